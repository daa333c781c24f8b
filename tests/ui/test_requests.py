"""Answers are to what was seen: requests that change, come again, or share the agent's id."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import Steps, ask, expect, handshake, turn, write
from tests.ui.talk import (
    asks,
    done,
    lines_of,
    next_turn_works,
    say,
    start_chat,
    tool,
    wait_idle,
    wait_line,
)

pytestmark = pytest.mark.either_nvim

Value: TypeAlias = Any
SAFE, WORSE = "echo safe", "rm -rf TAIL"
NO_GUARD = {"approval": {"guard": 0}}
CHANGED = "this request has changed since you saw it"
APPROVE_TOO_LATE = """
local path = ...
require('eca').send('now')
-- Frames are not drawn meanwhile: what is approved is what was shown before.
vim.wait(50000, function() return vim.uv.fs_stat(path) ~= nil end, 10, true)
local seen = require('eca').pending()[1].title
require('eca').approve()
return seen
"""


def shell(command: str) -> Steps:
    return asks("call-1", "shell_command", arguments={"command": command})


def ran(command: str) -> Steps:
    arguments = {"command": command}
    running = tool("Running", "call-1", "shell_command", arguments=arguments)
    return [*running, *done("call-1", "", "shell_command", arguments=arguments)]


def nested(steps: Steps) -> Steps:
    """Let a subagent say something instead."""
    said: Steps = json.loads(json.dumps(steps))
    for step in said:
        step["params"] |= {"chatId": "subagent-1", "parentChatId": "$chat"}
    return said


def spawn() -> Steps:
    details = {"type": "subagent", "subagentChatId": "subagent-1", "agentName": "explorer"}
    return tool("Running", "outer", "spawn_agent", arguments={"agent": "x"}, details=details)


def waiting(nvim: Neovim) -> list[Mapping[str, Value]]:
    found: list[Mapping[str, Value]] = nvim.lua("return require('eca').pending()")
    return found


def wait_title(nvim: Neovim, *titles: str) -> None:
    nvim.wait_for(lambda: [it["title"] for it in waiting(nvim)] == list(titles), str(titles))


def test_a_call_that_changes_while_it_waits_is_shown_again(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(
        handshake(),
        turn(shell(SAFE), expect("chat/promptSteer"), shell(WORSE), expect("chat/toolCallApprove")),
    )
    nvim = start_chat(start_nvim, server, settings=NO_GUARD)
    nvim.lua("_G.heard = {}")
    nvim.command(
        "autocmd User EcaApprovalRequested lua "
        "table.insert(_G.heard, require('eca').pending()[1].title)"
    )
    say(nvim, "go")
    nvim.wait_screen(f"$ {SAFE}")
    [before] = waiting(nvim)
    nvim.keys(":Eca approval<CR>q")
    nvim.wait_screen(lambda screen: "a allow" not in screen)
    nvim.keys(":Eca steer now<CR>")
    assert f"$ {WORSE}" in nvim.wait_screen("a allow")
    [after] = waiting(nvim)
    assert (after["id"], after["title"]) == (before["id"], f"$ {WORSE}")
    assert nvim.lua("return _G.heard") == [f"$ {SAFE}", f"$ {WORSE}"]
    nvim.keys(":Eca approve<CR>")
    nvim.wait_for(lambda: server.received("chat/toolCallApprove"), "the approval")


def test_an_answer_that_was_on_its_way_is_refused(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    """The host has heard of the other command, and the user has not."""
    mark = tmp_path / "changed"
    server = scripted_server(
        handshake(),
        turn(
            shell(SAFE),
            expect("chat/promptSteer"),
            shell(WORSE),
            ask("made/up", {}),
            write(mark, ""),
            expect("chat/toolCallApprove"),
        ),
    )
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    wait_title(nvim, f"$ {SAFE}")
    assert nvim.lua(APPROVE_TOO_LATE, str(mark)) == f"$ {SAFE}"
    nvim.wait_screen(CHANGED)
    wait_title(nvim, f"$ {WORSE}")
    nvim.wait_screen("a allow")
    assert server.received("chat/toolCallApprove") == []
    nvim.keys(":Eca approve<CR>")
    nvim.wait_for(lambda: server.received("chat/toolCallApprove"), "the approval")


def test_one_id_in_the_chat_and_in_a_subagent(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    both = [*expect("chat/toolCallApprove"), *expect("chat/toolCallReject")]
    server = scripted_server(handshake(), turn(spawn(), shell(WORSE), nested(shell(SAFE)), both))
    nvim = start_chat(start_nvim, server, settings=NO_GUARD)
    say(nvim, "go")
    wait_title(nvim, f"$ {WORSE}", f"$ {SAFE}")
    assert len({it["id"] for it in waiting(nvim)}) == 2
    nvim.lua("require('eca').approve({ id = 'call-1' })")
    nvim.wait_screen("2 requests have the id 'call-1'")
    nvim.keys(f"<C-w>k/{SAFE}<CR>a")
    told = nvim.wait_for(lambda: server.received("chat/toolCallApprove"), "the approval")
    assert [it["params"] for it in told] == [{"chatId": "subagent-1", "toolCallId": "call-1"}]
    wait_title(nvim, f"$ {WORSE}")
    nvim.lua("require('eca').reject({ id = 'call-1' })")
    [no] = nvim.wait_for(lambda: server.received("chat/toolCallReject"), "the rejection")
    assert no["params"]["chatId"] != "subagent-1"
    assert len(server.received("chat/toolCallApprove")) == 1


@pytest.mark.parametrize("turns", [1, 2])
def test_an_id_that_comes_again_is_another_call(
    start_nvim: StartNeovim, scripted_server: PrepareScript, turns: int
) -> None:
    first = [*shell(SAFE), *expect("chat/toolCallApprove"), *ran(SAFE)]
    rejected = tool("Rejected", "call-1", "shell_command", arguments={"command": WORSE})
    second = [*shell(WORSE), *expect("chat/toolCallReject"), *rejected]
    parts = [turn(first, second)] if turns == 1 else [turn(first), turn(second)]
    server = scripted_server(handshake(), *parts, next_turn_works())
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    wait_title(nvim, f"$ {SAFE}")
    nvim.keys(":Eca approve<CR>")
    if turns == 2:
        wait_line(nvim, f"✓ $ {SAFE}")
        wait_idle(nvim)
        say(nvim, "again")
    wait_title(nvim, f"$ {WORSE}")
    nvim.keys(":Eca reject<CR>")
    wait_idle(nvim)
    wait_line(nvim, f"⊘ $ {WORSE} rejected")
    assert [line for line in lines_of(nvim) if line.startswith("✓")] == [f"✓ $ {SAFE}  0.1s"]


def test_a_question_is_answered_by_its_id(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    question = {"chatId": "$chat", "question": "Which?", "requestId": "q-1", "allowFreeform": True}
    server = scripted_server(handshake(), turn(ask("chat/askQuestion", question)))
    nvim = start_chat(start_nvim, server)
    say(nvim, "go")
    wait_title(nvim, "Which?")
    nvim.lua("require('eca').answer('no', { id = 'other' })")
    nvim.wait_screen("no pending question with the id 'other'")
    nvim.lua("require('eca').answer('this', { id = require('eca').pending()[1].id })")
    wait_idle(nvim)
    [answer] = [it for it in server.received() if "answer" in it.get("result", {})]
    assert answer["result"]["answer"] == "this"
