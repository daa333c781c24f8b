"""Contexts on their way to a server: images, a pasted one, git's diff, what is too large."""

import subprocess
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.screen import Value
from tests.support.script import expect, handshake, status
from tests.support.servers import ScriptedServer
from tests.ui.beside import CODE
from tests.ui.talk import draft, prompts, say, start_chat, wait_line

PASTE = r"""#!/bin/sh
case "$*" in *png) printf '\211PNG\r\n\032\n data';; *) exit 1;; esac
"""


@pytest.fixture
def talk(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path, tmp_path: Path
) -> tuple[Neovim, ScriptedServer]:
    """Neovim with the whole plugin beside a file of code, and a clipboard with an image."""
    (workspace / "code.txt").write_text(CODE)
    (tmp_path / "bin").mkdir()
    turn = [*expect("chat/prompt"), *status("running"), *status("idle")]
    last = [*expect("chat/prompt"), *status("running"), *expect("chat/promptSteer")]
    server = scripted_server(handshake(), turn * 3, last)
    path = f"{tmp_path}/bin:/usr/bin:/bin"
    nvim = start_chat(start_nvim, server, "code.txt", columns=160, environment={"PATH": path})
    return nvim, server


def contexts(server: ScriptedServer, number: int) -> list[Value]:
    """Return the contexts of a prompt that the server got, without the cursor."""
    params = server.received("chat/prompt")[number - 1]["params"]
    return [it for it in params.get("contexts", []) if it["type"] != "cursor"]


@pytest.mark.either_nvim
def test_every_kind_reaches_the_server(
    talk: tuple[Neovim, ScriptedServer], workspace: Path, tmp_path: Path
) -> None:
    nvim, server = talk
    nvim.keys("<Esc>:Eca paste<CR>")
    nvim.wait_screen("no program reads the clipboard: install wl-paste, xclip or pngpaste")
    program = tmp_path / "bin" / "wl-paste"
    program.write_text(PASTE)
    program.chmod(0o755)
    nvim.lua("vim.keymap.set('i', '<F5>', '<Plug>(EcaPaste)')")
    nvim.keys("ilook at<F5>")
    nvim.wait_for(lambda: ".png " in draft(nvim), "the image in the draft")
    words = draft(nvim).split()
    picture = Path(words[2][1:])
    assert words[:2] == ["look", "at"]
    assert picture.read_bytes() == b"\x89PNG\r\n\x1a\n data"
    nvim.keys("and @mock://r1 @diff<C-s><Esc>")
    nvim.wait_for(lambda: len(server.received("chat/prompt")) == 1, "the first prompt")
    image = {"type": "file", "path": str(picture)}
    assert contexts(server, 1) == [image, {"type": "mcpResource", "uri": "mock://r1"}]
    wait_line(nvim, "context not sent: @diff: the working folder is in no git repository")

    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(workspace)]
    for command in (["init"], ["add", "."], ["commit", "-m", "all"]):
        subprocess.run([*git, *command], check=True, capture_output=True)
    (workspace / "code.txt").write_text("another line\n")
    (workspace / "big.log").write_text("line\n" * 1_000_000)
    (workspace / "prog").write_bytes(b"\0\1")
    nvim.command("checktime")
    say(nvim, "review @diff and @big.log, @prog too")
    nvim.wait_for(lambda: len(server.received("chat/prompt")) == 2, "the second prompt")
    diff, log, program_text = contexts(server, 2)
    assert diff["label"] == "git diff (@diff)"
    assert "+another line" in diff["content"]
    assert diff["content"].endswith("big.log\nprog")
    assert [it["label"] for it in (log, program_text)] == [
        str(workspace / "big.log"),
        str(workspace / "prog"),
    ]
    wait_line(nvim, "only the name is sent: @big.log is larger than 1 MB")
    wait_line(nvim, "only the name is sent: @prog is not a text")

    (workspace / "out").symlink_to("/etc")
    say(nvim, "see @out/hostname and #out")
    nvim.wait_screen("out/hostname is outside the workspace: it is /etc/hostname")
    nvim.wait_for(lambda: len(server.received("chat/prompt")) == 3, "the third prompt")

    say(nvim, "go")
    nvim.wait_for(lambda: len(server.received("chat/prompt")) == 4, "the last prompt")
    nvim.wait_until("require('eca').status().state == 'running'")
    say(nvim, f"and @diff, @{picture} @code.txt")
    wait_line(nvim, "not sent to the running turn: @diff, @/")
    nvim.wait_for(lambda: server.received("chat/promptSteer"), "the steering")
    assert prompts(server)[3] == "go"
