"""What is known of a call from its messages."""

import pytest

from eca_nvim.agents.acp.updates.known_call import KnownCall
from eca_nvim.chat.model.calls import changed_paths, may_change
from eca_nvim.chat.model.outside_paths import paths_outside
from eca_nvim.chat.vocabulary.call_details import Base, FileName, Title
from eca_nvim.digests import text_digest
from eca_nvim.protocol.acp.tool_call import CallDiff, CallLocation, ToolCallUpdate, ToolKind


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
    call = KnownCall("t", "/w", {})
    diffs = tuple(CallDiff(path=path, new_text="new") for path in paths)
    call.merge(ToolCallUpdate(tool_call_id="t", title="words of the model", content=diffs))
    assert call.call.title == title


@pytest.mark.parametrize("kind", ToolKind)
def test_a_call_with_a_diff_is_never_said_to_change_nothing(kind: ToolKind) -> None:
    call = KnownCall("t", "/w", {})
    call.merge(ToolCallUpdate(tool_call_id="t", kind=kind, content=(CallDiff("/w/a", "x"),)))
    assert may_change(call.call)
    assert changed_paths(call.call) == ("/w/a",)


def test_a_files_uri_is_its_path() -> None:
    call = KnownCall("t", "/w", {})
    places = (CallLocation(path="file:///etc/a%20b"), CallLocation(path="file://elsewhere/a"))
    call.merge(ToolCallUpdate(tool_call_id="t", locations=places))
    assert [it.path for it in call.call.locations or ()] == ["/etc/a b", "/w/file://elsewhere/a"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["bash", "-lc", "rm x"], "rm x"),
        (["/usr/bin/zsh", "-c", "rm x"], "rm x"),
        (["./bash", "-c", "ls"], "./bash -c ls"),
        (["/tmp/evil/bash", "-c", "ls"], "/tmp/evil/bash -c ls"),
        (["bin/sh", "-c", "ls"], "bin/sh -c ls"),
        (["sh", "-x", "ls"], "sh -x ls"),
    ],
)
def test_only_a_shell_of_the_system_is_left_out(words: list[str], line: str) -> None:
    call = KnownCall("t", "/w", {})
    execute = ToolKind.EXECUTE
    call.merge(ToolCallUpdate(tool_call_id="t", kind=execute, raw_input={"command": words}))
    assert call.call.command == line


def test_a_path_in_the_home_folder_leads_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    call = KnownCall("t", "/w", {})
    places = tuple(CallLocation(path=path) for path in ("~/.ssh/id", "~", "~other", "a~/b"))
    diffs = (CallDiff(path="~/.bashrc", new_text="evil"),)
    call.merge(ToolCallUpdate(tool_call_id="t", locations=places, content=diffs))
    paths = ["/home/me/.ssh/id", "/home/me", "/w/~other", "/w/a~/b"]
    assert [it.path for it in call.call.locations or ()] == paths
    assert [it.path for it in call.call.changes or ()] == ["/home/me/.bashrc"]
    outside = ("/home/me/.bashrc", "/home/me/.ssh/id", "/home/me")
    assert paths_outside(call.call, ("/w",)) == outside
    assert paths_outside(call.call, ("/w", "/home/me")) == ()


@pytest.mark.parametrize(
    ("title", "arguments", "shown"),
    [
        ("shell", {"command": "ls; pwd"}, "ls; pwd"),
        ("edit", {"path": "/w/a", "before": "two", "after": "TWO"}, "/w/a"),
        ("write", {"path": "/w/a", "content": "hello"}, "/w/a"),
    ],
)
def test_what_goose_means_stays_when_a_model_gives_it_a_title(
    title: str, arguments: dict[str, str], shown: str
) -> None:
    call = KnownCall("t", "/w", {})
    first = f"{title} · {shown}"
    call.merge(ToolCallUpdate(tool_call_id="t", title=first, raw_input=arguments))
    call.merge(ToolCallUpdate(tool_call_id="t", title=title, kind=ToolKind.OTHER))
    asked = call.call
    assert [asked.command, *changed_paths(asked)] in ([shown], [None, shown])
    call.merge(ToolCallUpdate(tool_call_id="t", title="words of a model"))
    assert (call.call.command, call.call.changes) == (asked.command, asked.changes)


READ = {"/w/a": text_digest("one\ntwo\n")}


@pytest.mark.parametrize(
    ("path", "old", "base"),
    [
        ("a", "one\ntwo\n", Base.OLD),
        ("/w/../w/a", "one\r\ntwo\r\n", Base.OLD),
        ("a", "two", Base.EDITOR),
        ("a", None, Base.EDITOR),
        ("b", "one\ntwo\n", Base.DISK),
        ("a\0", "one\ntwo\n", Base.DISK),
    ],
)
def test_a_change_is_made_to_what_was_read(path: str, old: str | None, base: Base) -> None:
    call = KnownCall("t", "/w", READ)
    call.merge(ToolCallUpdate(tool_call_id="t", content=(CallDiff(path, "new", old),)))
    assert [it.base for it in call.call.changes or ()] == [base]


def test_a_change_is_made_to_what_was_read_when_the_user_is_asked() -> None:
    read: dict[str, str] = {}
    call = KnownCall("t", "/w", read)
    call.merge(ToolCallUpdate(tool_call_id="t", content=(CallDiff("a", "new", "one\ntwo\n"),)))
    assert [it.base for it in call.call.changes or ()] == [Base.DISK]
    read |= READ
    call.asks()
    assert [it.base for it in call.call.changes or ()] == [Base.OLD]
