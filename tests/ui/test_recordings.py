"""Recorded sessions of the real server, repeated with the whole plugin in a real Neovim."""

import os
import signal
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareReplay, StartNeovim
from tests.support.golden import assert_golden
from tests.support.processes import command_line
from tests.ui.recorded import User, prepare, told
from tests.ui.talk import lines_of, say, start_chat, wait_line

pytestmark = pytest.mark.either_nvim

GOLDEN = Path(__file__).parent / "golden" / "recordings"
RECORDINGS = [
    *("handshake", "hello", "hello_nochatid", "think", "read", "edit_approved", "edit_rejected"),
    *("shell", "diagnostics", "stop_stream", "commands", "init_minimal", "old_client"),
    *("framing_ctype", "framing_lf", "framing_short", "framing_split", "prompt_early"),
    *("prompt_early_model", "broken_config", "no_models", "task", "mcp", "navigation", "trust"),
    *("login_command", "approval_config", "double_approve", "jobs", "compact_cmd", "contexts"),
    *("default_trust", "project_config", "image_context", "uri_odd", "uri_space"),
    *("uri_trailing_slash", "ask", "subagent"),
]
HARMLESS = {"chat/selectedModelChanged", "chat/selectedAgentChanged"}
"""What the plugin may say that was not recorded: what the user chose."""


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recorded_session_is_relived(name: str, start_nvim: StartNeovim, tmp_path: Path) -> None:
    story = prepare(name, tmp_path)
    nvim = start_nvim(settings={"server": {"command": story.replay.command}}, columns=120, lines=40)
    User(nvim, story).relive()
    assert_golden(told(nvim), GOLDEN / f"{name}.txt")
    story.replay.assert_as_recorded(nvim)
    report = story.replay.report() or {}
    assert not set(report["unexpected"]) - HARMLESS


DEATHS = {
    "death_sigterm": ("", signal.SIGTERM, "exit code 143"),
    "death_sigint": ("", signal.SIGKILL, "signal 9"),
    "death_stdin_closed_running": ("slow 100", signal.SIGTERM, "exit code 143"),
    "death_exit_ask": ("ask", signal.SIGTERM, "exit code 143"),
}


def player(nvim: Neovim) -> int:
    """Return the process id of the server."""
    [pid] = [it for it in nvim.child.family() if "replay_server" in command_line(it)]
    return pid


@pytest.mark.parametrize("name", DEATHS)
def test_a_recorded_server_that_dies_is_told_and_can_be_replaced(
    name: str, start_nvim: StartNeovim, replay: PrepareReplay
) -> None:
    prompt, number, told_end = DEATHS[name]
    nvim = start_chat(start_nvim, replay(name).command)
    nvim.wait_until("require('eca').status().server == 'ready'")
    if prompt:
        say(nvim, prompt)
        wait_line(nvim, "tick 7" if "running" in name else "Which color")
    shown = {line for line in lines_of(nvim) if line.startswith(("# Welcome", "tick"))}
    os.kill(player(nvim), number)
    wait_line(nvim, told_end)
    assert nvim.lua("return require('eca').pending()") == []
    assert nvim.lua("return require('eca').status().state") == "idle"
    nvim.keys(":Eca restart<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    assert shown | {prompt} <= {*lines_of(nvim), ""}


@pytest.mark.parametrize("name", ["uri_plain_path", "uri_unicode_raw"])
def test_a_recorded_server_that_refuses_to_start_is_told(
    name: str, start_nvim: StartNeovim, replay: PrepareReplay
) -> None:
    nvim = start_chat(start_nvim, replay(name).command)
    wait_line(nvim, "refused to start")
    assert any("Internal error" in line for line in lines_of(nvim))
    assert nvim.lua("return require('eca').status().server") == "failed"
