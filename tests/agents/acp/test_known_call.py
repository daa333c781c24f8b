"""What is known of a call from its messages."""

import pytest

from eca_nvim.agents.acp.updates.known_call import KnownCall
from eca_nvim.chat.vocabulary.call_details import FileName, Title
from eca_nvim.protocol.acp.tool_call import CallDiff, CallLocation, ToolCallUpdate


@pytest.mark.parametrize(
    ("paths", "title"),
    [
        ([], ("words of the model",)),
        (["/w/a"], (FileName("/w/a"),)),
        (["/w/a", "/w/b", "/w/a"], (FileName("/w/a"), FileName("/w/b"))),
        (
            ["/w/a", "/w/b", "/w/c", "/w/d", "/w/e"],
            (FileName("/w/a"), FileName("/w/b"), FileName("/w/c"), "and 2 more"),
        ),
    ],
)
def test_the_files_of_a_change_are_its_title(paths: list[str], title: Title) -> None:
    call = KnownCall("t", "/w")
    diffs = tuple(CallDiff(path=path, new_text="new") for path in paths)
    call.merge(ToolCallUpdate(tool_call_id="t", title="words of the model", content=diffs))
    assert call.call.title == title


def test_a_files_uri_is_its_path() -> None:
    call = KnownCall("t", "/w")
    places = (CallLocation(path="file:///etc/a%20b"), CallLocation(path="file://elsewhere/a"))
    call.merge(ToolCallUpdate(tool_call_id="t", locations=places))
    assert [it.path for it in call.call.locations or ()] == ["/etc/a b", "/w/file://elsewhere/a"]
