"""Tool calls of ACP agents: what may be left out, come early, come late or come twice."""

from __future__ import annotations

from typing import Any, TypeAlias

import pytest
from tests.agents.acp.wire import Wired, shows, text

from eca_nvim.agents.acp.updates.known_call import MOST_PRINTED
from eca_nvim.agents.acp.updates.messages import CallIds
from eca_nvim.chat.handlers import reducer
from eca_nvim.chat.handlers.turn import STOPPED_HERE
from eca_nvim.chat.vocabulary.call_details import FileChange, FileName, Location, ToolKind
from eca_nvim.chat.vocabulary.events import ToolFinished, ToolOutput
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.chat.vocabulary.turn_events import TurnEnded

Fields: TypeAlias = dict[str, Any]
RUN: Fields = {"title": "tidy up", "kind": "execute", "rawInput": {"command": "rm -rf x"}}
EDIT: Fields = {"title": "Edit a.txt", "kind": "edit"}
DIFF: Fields = {"type": "diff", "path": "/workspace/a.txt", "oldText": "two", "newText": "TWO"}


@pytest.fixture
def wired() -> Wired:
    return Wired()


# --- ids ----------------------------------------------------------------------------------------


def test_an_id_may_be_used_again_in_the_next_turn_3(wired: Wired) -> None:
    wired.answer(wired.asks(**RUN), "y")
    wired.changes(status="completed")
    wired.end()
    wired.begin("again")
    wired.asks(**RUN)
    assert wired.waiting == ["$ rm -rf x"]
    wired.answer("2", "y")
    assert wired.driver.decided[-1] == ("chat", "t1#2", "y")


@pytest.mark.parametrize("asks", [True, False])
def test_an_id_may_be_used_again_within_a_turn(wired: Wired, asks: bool) -> None:
    wired.call(status="completed", **RUN)
    if asks:
        wired.answer(wired.asks(**RUN), "y")
    else:
        wired.call(status="pending", **RUN)
    wired.changes(status="completed")
    assert wired.lines == ["✓ $ rm -rf x", "✓ $ rm -rf x"]


@pytest.mark.parametrize("status", ["completed", None])
def test_an_agent_that_was_started_again_begins_to_count_again(
    wired: Wired, status: str | None
) -> None:
    wired.call(status="in_progress", **RUN)
    wired.changes(status=status)
    wired.start_again()
    wired.call(status="in_progress", **RUN)
    wired.changes(status="completed")
    assert wired.lines[-1] == "✓ $ rm -rf x"
    assert len([line for line in wired.lines if "rm -rf" in line]) == 2


def test_a_call_that_is_announced_twice_is_one(wired: Wired) -> None:
    wired.call(status="pending", title="Terminal", kind="execute", rawInput={})
    wired.call(status="pending", **RUN)
    wired.call(status="in_progress")
    wired.call(status="completed")
    assert wired.lines == ["✓ $ rm -rf x"]


def test_a_result_may_come_after_the_end_of_the_turn(wired: Wired) -> None:
    wired.call(status="in_progress", **RUN)
    wired.end()
    assert wired.lines == ["· $ rm -rf x no result"], "codex 0.16 forgets many ends"
    wired.changes(status="completed")
    assert wired.lines == ["✓ $ rm -rf x"]


def stopped(wired: Wired) -> None:
    wired.take(wired.inbox.turn_ended())
    wired.driver.hear_exactly(TurnEnded(TurnEnd.STOPPED))


@pytest.mark.parametrize(
    ("status", "line"), [("completed", "⊘ $ rm -rf x stopped"), ("failed", "✗ $ rm -rf x")]
)
def test_a_call_that_ends_between_stop_and_end_is_stopped_unless_it_failed(
    wired: Wired, status: str, line: str
) -> None:
    """Gemini and opencode say that it is completed, when they have killed it."""
    wired.call(status="in_progress", **RUN)
    wired.driver.stop()
    wired.changes(status=status)
    stopped(wired)
    assert wired.lines[0] == line
    wired.changes(status="completed", content=[shows("out")])
    assert wired.lines[0] == line, "its end has been said"


def test_a_call_that_goes_on_after_a_stop_says_so_until_its_end(wired: Wired) -> None:
    """A command of codex goes on, and the end of its process ends it."""
    wired.call(status="in_progress", **RUN)
    wired.driver.stop()
    stopped(wired)
    assert wired.lines == ["⊘ $ rm -rf x may still run", STOPPED_HERE]
    wired.begin("again")
    wired.changes(status="completed", content=[shows("out")])
    assert wired.lines[0] == "✓ $ rm -rf x"


def test_nothing_goes_on_once_the_process_of_the_agent_has_ended(wired: Wired) -> None:
    wired.call(status="in_progress", **RUN)
    stopped(wired)
    wired.driver.take(reducer.server_changed(wired.driver.chat, "ready", 0))
    assert wired.lines[0] == "⊘ $ rm -rf x may still run"
    assert wired.driver.view.lost == ["⊘ $ rm -rf x stopped"], "with the host it ends, too"
    wired.driver.take(reducer.server_changed(wired.driver.chat, "starting", 0))
    assert wired.lines[0] == "⊘ $ rm -rf x stopped"


def test_a_call_that_is_still_written_ends_with_its_turn(wired: Wired) -> None:
    wired.call(status="pending", title="Terminal", kind="execute")
    wired.end()
    assert wired.lines == ["· Terminal no result"]


def test_an_update_that_says_nothing_makes_no_call(wired: Wired) -> None:
    assert wired.changes("never heard of", _meta={"claudeCode": {"toolName": "TodoWrite"}}) == []
    assert wired.lines == []


def test_an_unknown_call_may_begin_with_its_end(wired: Wired) -> None:
    wired.changes(status="failed", content=[shows("not read yet")])
    assert wired.lines == ["✗ a call", "  not read yet"]


# --- what is known of a call --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("ls -l", "ls -l"),
        (["/bin/bash", "-lc", "ls; rm x"], "ls; rm x"),
        (["git", "commit", "-m", "a b"], "git commit -m 'a b'"),
        (["bash", "-x", "y"], "bash -x y"),
        (["one", 2], "one 2"),
        ("", None),
        ([], None),
        (7, None),
        (None, None),
    ],
)
def test_the_command_is_that_of_the_arguments(
    wired: Wired, command: object, shown: str | None
) -> None:
    wired.call(kind="execute", title="mock command", rawInput={"command": command, "x": 1})
    assert wired.known().command == shown


def test_only_what_runs_has_a_command(wired: Wired) -> None:
    wired.call(kind="edit", title="t", rawInput={"command": "str_replace"})
    assert wired.known().command is None


@pytest.mark.parametrize("kind", [*(it.value for it in ToolKind), "new kind", None, 3])
def test_any_kind_is_a_kind(wired: Wired, kind: object) -> None:
    ours = {*(it.value for it in ToolKind)} - {"tasks", "ask", "agent"}
    wired.call(kind=kind, title="t", rawInput={"a": 1})
    assert wired.known().kind == (kind if kind in ours else ToolKind.OTHER)


def test_several_diffs_are_several_changes(wired: Wired) -> None:
    new = {"type": "diff", "path": "/workspace/b.txt", "oldText": "", "newText": "b\n"}
    wired.call(status="pending", content=[DIFF, new, shows("two files")], **EDIT)
    assert wired.known().changes == (
        FileChange("/workspace/a.txt", "", 0, 0, "two", "TWO"),
        FileChange("/workspace/b.txt", "", 0, 0, None, "b\n"),
    )


def test_a_relative_path_is_that_of_the_call(wired: Wired) -> None:
    place = {"path": "/workspace/deep/a.txt"}
    wired.asks(locations=[place], content=[{**DIFF, "path": "a.txt"}, {**DIFF, "path": "b.txt"}])
    paths = [change.path for change in wired.known().changes or ()]
    assert paths == ["/workspace/deep/a.txt", "/workspace/b.txt"]


def test_content_replaces_until_the_call_runs(wired: Wired) -> None:
    wired.call(status="pending", content=[DIFF], **EDIT)
    wired.asks(content=[])
    assert wired.known().changes == ()
    wired.changes(content=[DIFF])
    assert wired.waiting
    wired.answer("1", "y")
    wired.changes(status="in_progress", content=[])
    wired.changes(status="completed", content=[shows("done")])
    assert len(wired.known().changes or ()) == 1


def test_places_are_files_and_lines(wired: Wired) -> None:
    wired.call(
        title="Read `/workspace/a.txt` (1 - 9)",
        kind="read",
        locations=[{"path": "/workspace/a.txt", "line": 0}, {"path": "b.txt", "line": 7}],
    )
    assert wired.known().locations == (
        Location("/workspace/a.txt"),
        Location("/workspace/b.txt", 7),
    )
    assert wired.known().title == ("Read", FileName("/workspace/a.txt"), "(1 - 9)")


def test_arguments_that_the_diff_shows_are_not_listed(wired: Wired) -> None:
    long = "a line that is long enough not to be there by chance"
    diff = {**DIFF, "newText": f"TWO\n{long}\n"}
    arguments = {"old_string": "two", "new_string": long, "replace_all": False, "then": "TWO"}
    wired.asks(rawInput=arguments, content=[diff], **EDIT)
    assert wired.known().shown == ("old_string", "new_string")
    assert wired.asked[:2] == ["replace_all: false", "then: TWO"]
    wired.asks(call="t2", rawInput={"run": "two"}, content=[DIFF], kind="other")
    assert wired.known().shown == ()


# --- output -------------------------------------------------------------------------------------


def test_content_of_a_call_that_runs_is_its_output(wired: Wired) -> None:
    wired.call(status="in_progress", content=[], **RUN)
    wired.changes(content=[shows("one\n")])
    wired.changes(content=[shows("one\ntwo\n")])
    wired.changes(content=[shows("other")])
    pieces = [it for it in wired.events if isinstance(it, ToolOutput)]
    assert [(it.text, it.replaces) for it in pieces] == [
        ("one\n", True),
        ("two\n", False),
        ("other", True),
    ]
    wired.changes(status="completed", content=[shows("```sh\nall\n```\n")])
    assert wired.events[-1] == ToolFinished(wired.known(), ("all",))


def test_content_may_come_after_the_end_12(wired: Wired) -> None:
    wired.call(status="in_progress", **RUN)
    wired.changes(status="completed")
    wired.changes(status="completed", content=[shows("late")])
    wired.driver.toggle(wired.driver.chat.root.calls["t1"].id)
    assert wired.lines == ["✓ $ rm -rf x", "  $ rm -rf x", "  late"]


@pytest.mark.parametrize("name", ["terminal_output", "terminal_output_delta"])
def test_a_terminal_of_the_agent_prints_into_its_call(wired: Wired, name: str) -> None:
    wired.call(status="in_progress", content=[{"type": "terminal", "terminalId": "x"}], **RUN)
    wired.changes(_meta={name: {"data": "line 1\n", "terminal_id": "x"}, "more": {"a": [1]}})
    wired.changes(_meta={name: {"data": "line 2\n", "terminal_id": "x"}})
    end = {"terminal_exit": {"exit_code": 3, "signal": None, "terminal_id": "x"}}
    wired.changes(status="failed", _meta=end)
    assert wired.lines == ["✗ $ rm -rf x", "  line 1", "  line 2", "  ", "  [exit code 3]"]


def test_of_a_long_output_of_a_terminal_the_end_is_kept(wired: Wired) -> None:
    wired.call(status="in_progress", content=[{"type": "terminal", "terminalId": "x"}], **RUN)
    for number in range(300):
        data = f"{number}" + "." * 10_000
        wired.changes(_meta={"terminal_output_delta": {"data": data, "terminal_id": "x"}})
    wired.changes(status="completed")
    done = wired.events[-1]
    assert isinstance(done, ToolFinished)
    [output] = done.outputs
    assert MOST_PRINTED - 10_100 < len(output) <= MOST_PRINTED
    assert output.endswith(data)


@pytest.mark.parametrize(
    ("content", "raw", "outputs"),
    [
        ([shows("content")], "raw", ("content",)),
        ([], "raw", ("raw",)),
        (None, [text("a"), text("b")], ("a\nb",)),
        (None, {"a": 1}, ('{\n  "a": 1\n}',)),
        (None, "", ()),
        ([DIFF], "raw", ()),
        ([{"type": "terminal", "terminalId": "x"}], "raw", ()),
        ([{"type": "hologram", "x": 1}], "raw", ('{\n  "type": "hologram",\n  "x": 1\n}',)),
        ([{"type": "content", "content": {"type": "image", "data": "AA"}}], "", ("image, 1 KB",)),
    ],
)
def test_raw_output_is_shown_if_there_is_no_content(
    wired: Wired, content: object, raw: object, outputs: tuple[str, ...]
) -> None:
    wired.call(status="in_progress", **RUN)
    wired.changes(status="completed", content=content, rawOutput=raw)
    assert wired.events[-1] == ToolFinished(wired.known(), outputs)


def test_an_update_costs_the_same_however_many_there_were() -> None:
    few, many = (_steps(count) for count in (50, 500))
    assert many < 20 * few


def test_an_id_that_is_used_often_costs_the_same() -> None:
    ids = CallIds("")
    assert [ids.fresh("a") for _ in range(3)] == ["a", "a#2", "a#3"]
    assert [ids.fresh("a#2"), ids.fresh("a"), ids.fresh("")] == ["a#2#2", "a#4", "call"]
    for _ in range(100_000):
        last = ids.fresh("a")
    assert last == "a#100004"


def _steps(count: int) -> int:
    """Count the steps of the interpreter that so many updates take."""
    import sys

    wired, steps = Wired(), 0

    def step(*_: object) -> None:
        nonlocal steps
        steps += 1

    sys.setprofile(step)
    try:
        for number in range(count):
            wired.call(f"t{number}", status="in_progress", **RUN)
            wired.changes(f"t{number}", status="completed", content=[shows("x")])
            wired.update("agent_message_chunk", content=text("word "))
    finally:
        sys.setprofile(None)
    return steps
