"""Without a host, typed text is visible and kept, and is sent when a host starts."""

import os
import signal
import sys
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import Steps, content, expect, handshake, text, turn
from tests.ui.talk import asks, draft, host_of, lines_of, prompts, say, tool, wait_line

pytestmark = pytest.mark.either_nvim

NOWHERE = "/nowhere/python"


def start_stranded(start_nvim: StartNeovim, **environment: str) -> Neovim:
    """Start a Neovim whose host cannot start, and open the chat."""
    nvim = start_nvim(settings={"python": NOWHERE}, columns=120, environment=environment)
    nvim.keys(":EcaChat<CR>")
    nvim.wait_screen(NOWHERE)
    nvim.take_errors()
    return nvim


def mend(nvim: Neovim, command: list[str]) -> None:
    """Correct the option, and do what the message says."""
    settings = {"python": sys.executable, "server": {"command": command}}
    nvim.lua("vim.g.eca = ...", settings)
    nvim.keys(":Eca restart<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")


def unsent(folder: Path) -> list[str]:
    """Return what Neovims without a host have on the disk."""
    return [path.read_text() for path in folder.rglob("*.unsent")]


def wait_unsent(nvim: Neovim, folder: Path, *texts: str) -> None:
    """Wait until that is on the disk."""
    nvim.wait_for(lambda: unsent(folder) == list(texts), f"{texts} on the disk")


def test_prompts_wait_in_sight_and_are_sent_when_the_option_is_corrected(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), turn(text("done")), turn(text("done again")))
    nvim = start_stranded(start_nvim)
    say(nvim, "one")
    nvim.wait_screen("⧗ one")
    nvim.wait_screen("1 queued")
    nvim.keys(":EcaChat! two<CR>")
    nvim.wait_screen("⧗ two")
    mend(nvim, server.command)
    nvim.wait_for(lambda: prompts(server) == ["one", "two"], "both prompts")
    nvim.wait_until("require('eca').status().state == 'idle'")
    assert "⧗" not in nvim.screen
    wait_line(nvim, "two")
    assert draft(nvim) == ""


def test_a_restart_in_vain_leaves_all_as_it_was(start_nvim: StartNeovim) -> None:
    nvim = start_stranded(start_nvim)
    say(nvim, "one")
    nvim.wait_for(lambda: "not running" in nvim.messages(), "why it waits")
    nvim.take_errors()
    nvim.keys(":Eca restart<CR>")
    nvim.wait_for(lambda: NOWHERE in nvim.messages(), "the fault, once more")
    assert len([line for line in lines_of(nvim) if NOWHERE in line]) == 1
    nvim.wait_screen("⧗ one")
    assert draft(nvim) == ""
    nvim.take_errors()


def test_what_waits_can_be_taken_back(start_nvim: StartNeovim) -> None:
    nvim = start_stranded(start_nvim)
    for words in ("one", "two", "three"):
        say(nvim, words)
    nvim.wait_screen("3 ⧗ three")
    nvim.keys("<M-BS>")
    nvim.wait_for(lambda: draft(nvim) == "three", "the last prompt in the input")
    nvim.keys(":Eca! unqueue 1<CR>")
    nvim.wait_screen("1 queued")
    nvim.wait_screen("⧗ two")
    nvim.keys("<C-c>")
    nvim.wait_for(lambda: draft(nvim) == "two\nthree", "all in the input")
    assert "⧗" not in nvim.screen


def test_typing_without_a_host_is_not_complained_about(
    start_nvim: StartNeovim, tmp_path: Path
) -> None:
    nvim = start_stranded(start_nvim, XDG_STATE_HOME=str(tmp_path))
    told = nvim.messages()
    nvim.keys("ihalf a thought<Esc>")
    wait_unsent(nvim, tmp_path, "half a thought")
    assert nvim.messages() == told


def test_what_waits_outlives_neovim(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    first = start_stranded(start_nvim, **state)
    say(first, "sent")
    first.keys("  ihalf a<CR>thought<Esc>")
    first.quit()
    [kept] = (tmp_path / "state").rglob("*.unsent")
    assert kept.stat().st_mode & 0o777 == 0o600
    second = start_stranded(start_nvim, **state)
    second.wait_for(lambda: draft(second) == "sent\nhalf a\nthought", "all in the input")
    server = scripted_server(handshake(), turn(text("done")))
    mend(second, server.command)
    wait_unsent(second, tmp_path)
    second.quit()
    third = start_nvim(settings={"server": {"command": server.command}}, environment=state)
    third.keys(":EcaChat<CR>")
    third.wait_for(lambda: draft(third) == "sent\nhalf a\nthought", "what the host has kept")
    third.wait_until("require('eca').status().server == 'ready'")
    assert draft(third) == "sent\nhalf a\nthought"


def test_what_waits_outlives_a_neovim_that_is_killed(
    start_nvim: StartNeovim, tmp_path: Path
) -> None:
    state = {"XDG_STATE_HOME": str(tmp_path)}
    first = start_stranded(start_nvim, **state)
    say(first, "sent")
    first.keys("ihalf<Esc>")
    wait_unsent(first, tmp_path, "sent\nhalf")
    first.kill(signal.SIGKILL)
    second, third = (start_stranded(start_nvim, **state) for _ in range(2))
    second.wait_for(lambda: draft(second) == "sent\nhalf", "all in the input")
    assert draft(third) == ""


def test_what_is_typed_before_the_host_is_up_outlives_neovim(
    start_nvim: StartNeovim, tmp_path: Path
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\ncat > /dev/null\n")
    python.chmod(0o755)
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    first = start_nvim(settings={"python": str(python)}, environment=state)
    first.keys(":EcaChat sent<CR>ihalf<Esc>")
    first.quit()
    assert unsent(tmp_path) == ["sent\nhalf"]


def floats(nvim: Neovim) -> list[int]:
    """Return the floating windows."""
    code = "return vim.tbl_filter(function(win) return vim.fn.win_gettype(win) == 'popup' end, ...)"
    wins: list[int] = nvim.lua(code, nvim.lua("return vim.api.nvim_list_wins()"))
    return wins


def going_on(*, asked: bool) -> Steps:
    """Return a call that waits or runs, and a thought, with no end."""
    arguments = {"pattern": "a", "path": "src"}
    run = tool("Run", manualApproval=False, arguments=arguments)
    runs = [*run, *tool("Running", arguments=arguments)]
    call = asks() if asked else runs
    thought = content({"type": "reasonStarted", "id": "r"})
    return [*call, *thought, *expect("chat/promptStop")]


@pytest.mark.parametrize("asked", [False, True], ids=["running", "waiting"])
def test_nothing_goes_on_when_the_host_is_killed(
    asked: bool, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    """What ran, thought or waited reads as stopped, and the line above names who answered."""
    server = scripted_server(handshake(), turn(going_on(asked=asked)))
    command = {"server": {"command": server.command}}
    nvim = start_nvim(settings=command, columns=120, lines=30)
    nvim.keys(":EcaChat go<CR>")
    nvim.wait_for(lambda: len(floats(nvim)) == asked, "the float")
    wait_line(nvim, " waiting" if asked else "● grep")
    wait_line(nvim, "thinking…")
    label = nvim.lua("return require('eca.state.mirror').server().label")
    os.kill(host_of(nvim), signal.SIGKILL)
    nvim.wait_until("require('eca').status().server == 'failed'")
    nvim.take_errors()
    shown = lines_of(nvim)
    assert len([line for line in shown if line.startswith("⊘") and line.endswith("stopped")]) == 1
    assert [line for line in shown if line.endswith(" thought")]
    assert not [line for line in shown if line.startswith(("●", "?", "…")) or "thinking" in line]
    assert floats(nvim) == []
    assert label
    assert nvim.lua("return require('eca.state.mirror').server().label") == label
