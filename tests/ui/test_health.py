"""`:checkhealth eca`: what is needed, and each server, which is started for it and ended."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim

pytestmark = pytest.mark.whole_start


def test_health_says_where_to_get_the_server_and_how_to_log_in(
    start_nvim: StartNeovim, tmp_path: Path
) -> None:
    for program in ("vibe-acp", "cline"):
        (tmp_path / program).touch(0o755)
    nvim = start_nvim(columns=120, lines=70)
    nvim.lua("vim.env.PATH = ...", str(tmp_path))
    nvim.command("checkhealth eca")
    report = "\n".join(nvim.buffer_lines())
    assert "editor-code-assistant/eca" in report
    assert ":Eca login in the chat" in report
    assert ":Eca server lists all; there now: cline, vibe" in report
    assert "Server cline" in report


@pytest.mark.parametrize(
    ("says", "told"),
    [
        ("echo eca 0.155.1", "eca: eca 0.155.1"),
        ("exit 1", "does not report a version"),
    ],
)
def test_health_asks_the_server_for_its_version(
    start_nvim: StartNeovim, tmp_path: Path, says: str, told: str
) -> None:
    server = tmp_path / "eca"
    server.write_text(f"#!/bin/sh\n{says}\n")
    server.chmod(0o755)
    nvim = start_nvim(columns=120, lines=70, settings={"server": {"command": [str(server)]}})
    nvim.command("checkhealth eca")
    assert any(told in line for line in nvim.buffer_lines())


def test_health_names_the_remedy_of_an_old_python(start_nvim: StartNeovim, tmp_path: Path) -> None:
    python = tmp_path / "python3.8"
    python.write_text("#!/bin/sh\necho 'AssertionError: it is Python 3.8' >&2\nexit 1\n")
    python.chmod(0o755)
    nvim = start_nvim(columns=120, lines=70, settings={"python": str(python)})
    nvim.command("checkhealth eca")
    report = "\n".join(nvim.buffer_lines())
    assert "it is Python 3.8" in report
    assert "fix 'python', :Eca restart" in report


def section(nvim: Neovim, title: str) -> str:
    """Return the lines of a section of the report."""
    report = "\n".join(nvim.buffer_lines())
    return report.partition(f"{title} ~\n")[2].partition(" ~\n")[0]


@pytest.mark.either_nvim
def test_health_names_what_else_draws_at_the_cursor(start_nvim: StartNeovim) -> None:
    rivals = """
    vim.g.loaded_copilot = 1
    package.loaded['supermaven-nvim.completion_preview'] = {}
    package.loaded['blink.cmp.config'] = { completion = { ghost_text = { enabled = true } } }
    package.loaded['cmp.config'] = { get = function() return {} end }
    """
    nvim = start_nvim(columns=120, lines=70, settings={"completion": {"inline": True}})
    nvim.command("checkhealth eca")
    assert "no other plugin draws" in section(nvim, "Inline completion")
    nvim.lua(rivals)
    nvim.command("checkhealth eca")
    told = "copilot.vim, supermaven-nvim, the ghost text of blink.cmp"
    assert told in section(nvim, "Inline completion")


def test_health_names_what_is_missing_here_and_what_draws_over_the_chat(
    start_nvim: StartNeovim,
) -> None:
    nvim = start_nvim(columns=120, lines=70)
    nvim.keys(":EcaChat<CR>")
    nvim.wait_screen("to see what I can do")
    nvim.command("checkhealth eca")
    assert ("before 0.11" in section(nvim, "Neovim")) == (nvim.eval("has('nvim-0.11')") == 0)
    assert "no other plugin draws over the chat" in section(nvim, "Drawing")
    nvim.lua("""
    local buf = vim.fn.bufnr('eca://chat/1')
    local namespace = vim.api.nvim_create_namespace('render-markdown.nvim')
    vim.api.nvim_buf_set_extmark(buf, namespace, 0, 0, { virt_text = { { '#' } } })
    """)
    nvim.command("checkhealth eca")
    assert "drawn over the chat, too: render-markdown.nvim" in section(nvim, "Drawing")


def test_health_shakes_hands_with_each_server_and_leaves_none(start_nvim: StartNeovim) -> None:
    bad = "echo 'cannot read its settings' >&2; exit 3"
    servers = {
        "bad": {"command": ["sh", "-c", bad], "protocol": "acp", "idle": -1},
        "acp-demo": {
            "idle": 30,
            "mcp": {"here": {"command": ["sh"]}, "web": {"url": "https://example.org"}},
        },
        "demo": {},
        "missing": {"command": ["no-such-agent"], "protocol": "acp"},
        "codex": {"env": {"PATH": "/nowhere"}},
    }
    nvim = start_nvim(settings={"servers": servers, "server": "demo"}, columns=80, lines=90)
    nvim.lua("local it = require('eca.health') it.PATIENCE, it.ANSWER = 50000, 40")
    nvim.command("checkhealth eca")
    demo = section(nvim, "Server acp-demo")
    assert "Demo agent 1, protocol version 1, answered after" in demo
    assert "login: it offers none" in demo
    assert "can: prompt.embeddedContext, session.close" in demo
    assert "it is ended after 30 minutes without use" in demo
    assert "MCP servers that it gets: here" in demo
    assert "servers.acp-demo.mcp.web is left out: the agent takes none of the type http" in demo
    assert "it speaks the protocol of ECA, answered after" in section(nvim, "Server demo")
    failed = section(nvim, "Server bad")
    assert "it ended before it answered, exit code 3: cannot read its settings" in failed
    assert "is it an ACP agent? Check servers.bad.command and protocol" in failed
    assert "option 'servers.bad.idle' must be 0 or more, not -1" in failed
    assert "'no-such-agent' not found: correct its path" in section(nvim, "Server missing")
    assert "no codex-acp on PATH: install it by npm install" in section(nvim, "Server codex")
    nvim.wait_for(lambda: not nvim.child.descendants(), "the probes and the servers to be gone")


def test_health_says_what_checkpoints_take_and_what_works_without_git(
    start_nvim: StartNeovim, workspace: Path, tmp_path: Path
) -> None:
    nvim = start_nvim(columns=120, lines=70, settings={"checkpoints": {"enabled": True, "days": 3}})
    place = Path(nvim.lua("return vim.fn.stdpath('state')"), "eca", "checkpoints")
    place.mkdir(parents=True)
    (place / "file").write_bytes(os.urandom(3 << 20))
    nvim.lua("local it = require('eca.health') it.PATIENCE, it.ANSWER = 50000, 40")
    nvim.command("checkhealth eca")
    told = section(nvim, "Checkpoints")
    assert "OK git version" in told
    assert f"{workspace} is in no repository: there only files that tools name can be taken" in told
    assert f"all workspaces: 3.0 MiB in {place}" in told
    assert "a workspace: at most 1024 MiB, for 3 days, no file above 20 MiB" in told
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    nvim.lua("vim.env.PATH = ...", str(tmp_path))
    nvim.command("checkhealth eca")
    told = section(nvim, "Checkpoints")
    assert "WARNING git is not installed: checkpoints need it. Without it only files that" in told
    assert "is in no repository" not in told
