"""Changes of a shell command: listed and undone, while the user writes files."""

import subprocess
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import Steps, expect, handshake, status, turn, write
from tests.ui.talk import Value, asks, catch_up, done, say, start_chat, tool, wait_idle

pytestmark = pytest.mark.either_nvim

COMMAND = {"command": "make tidy"}
SHELL: dict[str, Value] = {"name": "shell_command", "arguments": COMMAND}

LISTEN = """
Mentioned = {}
require('eca.host').send_if_running = function(...)
  table.insert(Mentioned, { ... })
end
"""


def ran(path: Path, made: Path) -> Steps:
    """Run an approved command that changes a file and makes another, until the test ends it."""
    return [
        *asks("tidy", **SHELL),
        *expect("chat/toolCallApprove"),
        *tool("Running", "tidy", **SHELL),
        *write(path, "1\ntidied\n3\n"),
        *write(made, "made\n"),
        *expect("chat/promptStop"),
        *done("tidy", "", **SHELL),
    ]


@pytest.fixture
def nvim(start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path) -> Neovim:
    """Show a chat whose command runs and has changed code.txt and made.txt, beside mine.txt."""
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    (workspace / "code.txt").write_text("1\n2\n3\n")
    (workspace / "mine.txt").write_text("mine\n")
    script = ran(workspace / "code.txt", workspace / "made.txt")
    server = scripted_server(handshake(), turn(script, status("idle")))
    nvim = start_chat(start_nvim, server, "mine.txt", settings={"approval": {"guard": 0}})
    say(nvim, "tidy up")
    nvim.wait_screen("allow this?")
    nvim.command("Eca approve")
    nvim.wait_for((workspace / "made.txt").exists, "the command to work")
    return nvim


def end(nvim: Neovim) -> None:
    nvim.command("Eca stop")
    wait_idle(nvim)


def test_a_command_is_listed_and_undone(nvim: Neovim, workspace: Path) -> None:
    end(nvim)
    nvim.command("Eca changes")
    nvim.wait_screen("code.txt|2| +1 -1  tidied")
    nvim.wait_screen("made.txt|1| +1 -0  new file")
    nvim.command("Eca undo-turn")
    nvim.wait_screen("restored, changed by a command")
    nvim.wait_screen("deleted, made by a command")
    nvim.keys("u")
    nvim.wait_screen("turn 1 undone in 2 files")
    assert (workspace / "code.txt").read_text() == "1\n2\n3\n"
    assert not (workspace / "made.txt").exists()


@pytest.mark.parametrize(
    "command",
    [
        "write",
        "2write! mine.txt",
        "write >> mine.txt",
        "wall",
        # which fires no other autocommand
        "execute 'autocmd User Save silent wall' | doautocmd User Save",
    ],
)
def test_what_the_user_writes_meanwhile_is_not_the_commands(
    nvim: Neovim, workspace: Path, command: str
) -> None:
    nvim.command("wincmd t")
    nvim.command("call setline(1, ['mine', 'and more'])")
    nvim.command(command)
    assert "and more" in (workspace / "mine.txt").read_text()
    catch_up(nvim)
    end(nvim)
    nvim.command("Eca changes")
    screen = nvim.wait_screen("made.txt|1| +1 -0  new file")
    assert "mine.txt|" not in screen


def test_the_host_knows_what_is_being_written(nvim: Neovim, workspace: Path) -> None:
    nvim.lua(LISTEN)
    nvim.command("autocmd BufWritePre * call luaeval('vim.wait(20)')")  # as formatters do
    nvim.command("autocmd BufWritePre * let g:before = luaeval('#Mentioned')")
    nvim.command("wincmd t | write")
    path = str(workspace / "mine.txt")
    nvim.wait_until("#Mentioned == 2")
    assert nvim.lua("return Mentioned[1]") == ["wrote", {"path": path, "state": "begun"}]
    assert nvim.lua("return Mentioned[2]") == ["wrote", {"path": path, "state": "written"}]
    assert nvim.eval("g:before") == 1, "not before the hooks of others are over"


def test_a_write_that_was_given_up_hides_no_change(nvim: Neovim, workspace: Path) -> None:
    nvim.command("wincmd t | edit code.txt")
    nvim.command("call setline(1, ['mine'])")
    (workspace / "code.txt").write_text("by the command, later\n")
    nvim.keys(":write<CR>")
    nvim.wait_screen("(y/n)")
    nvim.keys("n")
    nvim.wait_screen("WARNING")
    nvim.keys("<CR>")
    nvim.command("edit!")
    catch_up(nvim)
    end(nvim)
    nvim.command("Eca changes")
    nvim.wait_screen("by the command, later")


def test_what_is_done_again_is_said_plainly(nvim: Neovim) -> None:
    end(nvim)
    nvim.command("Eca undo-turn")
    nvim.wait_screen("made by a command")
    nvim.keys("u")
    nvim.wait_screen("turn 1 undone in 2 files")
    nvim.command("Eca undo-turn 1")
    screen = nvim.wait_screen("u redo")
    assert "by a command" not in screen
