"""A turn that the agent has finished before its first message is read, where no tree has its files.

What was there is unknown: the list says so, and an undo leaves the files alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from tests.review.agent import Agent, Moment
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import Steps, handshake, text, turn
from tests.ui.talk import done, say, start_chat, tool, wait_idle, wait_line
from tests.ui.test_refactor import changes, contents

from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.events import (
    ChatEvent,
    ToolFinished,
    ToolPreparing,
    ToolRequested,
    ToolRunning,
)

Value: TypeAlias = Any


def tells(event: ChatEvent) -> Steps:
    """Tell of a call as the server does."""
    match event:
        case ToolPreparing(call, arguments_text):
            return tool("Prepare", call.id, call.name or "", argumentsText=arguments_text)
        case ToolRequested(call):
            return tool("Run", call.id, call.name or "", **fields(call), manualApproval=False)
        case ToolRunning(call):
            return tool("Running", call.id, call.name or "", **fields(call))
        case ToolFinished(call):
            return done(call.id, "Done", call.name or "", **fields(call))
        case _:
            raise TypeError(f"{event} is no word about a call")


def fields(call: ToolCall) -> dict[str, Value]:
    told: dict[str, Value] = {"arguments": dict(call.arguments or {})}
    for change in call.changes or ():
        counts = {"linesAdded": change.added, "linesRemoved": change.removed}
        told["details"] = {"type": "fileChange", "path": change.path, "diff": change.diff, **counts}
    return told


def work(calls: Iterator[Iterator[Moment]]) -> Steps:
    """Let the agent act at once; gives what it tells of it."""
    steps: Steps = []
    for call in calls:
        for moment in call:
            if callable(moment):
                moment()
            else:
                steps += tells(moment)
    return steps


def refactor(agent: Agent) -> Iterator[Iterator[Moment]]:
    yield agent.edit("README.md", "two\n", "two\nthree\n")
    yield agent.move("README.md", "NOTES.md")
    yield agent.edit("code.py", "1", "one")
    yield agent.edit("code.py", "one", "1, 2")
    yield agent.write("whole.py", "written\n")


def test_a_turn_that_is_over_before_it_is_heard_of(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    desk = tmp_path / "desk"
    desk.mkdir()
    for name, whole in {"README.md": "# Notes\n\none\ntwo\n", "code.py": "x = 1\n"}.items():
        (desk / name).write_text(whole)
    (desk / "whole.py").write_text("what nobody has seen\n")
    told = work(refactor(Agent(desk)))
    after = contents(desk)
    server = scripted_server(handshake(), turn(told, text("all of it")))
    settings = {"approval": {"guard": 0}}
    nvim = start_chat(start_nvim, server, settings=settings, columns=160, lines=40)
    say(nvim, "refactor")
    wait_line(nvim, "all of it")
    wait_idle(nvim)
    assert changes(nvim) == [
        ":0 turn 1: refactor",
        "NOTES.md:1 changed, its original text is unknown",
        "code.py:1 changed, its original text is unknown",
        "whole.py:1 changed, its original text is unknown",
    ]
    nvim.command("Eca undo-turn")
    nvim.wait_screen("cannot be restored: its original text is unknown")
    nvim.keys("u")
    nvim.wait_screen("nothing was undone")
    assert contents(desk) == after
