"""What the host loads until it speaks to its server: each module makes the first chat wait."""

import sys
from pathlib import Path

from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import expect, write

OTHERS = {"_ssl", "bz2", "difflib", "lzma", "random", "secrets", "shlex", "shutil"}
OTHERS |= {"tempfile", "unidiff"}
OURS = {
    "eca_nvim.agents.acp",
    "eca_nvim.protocol.acp",
    "eca_nvim.chat.render.markdown",
    "eca_nvim.mcp",
    "eca_nvim.nvim.probes",
    "eca_nvim.protocol.eca.mcp",
    "eca_nvim.review.undo",
    "eca_nvim.session.login_dialog",
    "eca_nvim.session.requests.logins",
    "eca_nvim.session.requests.review",
    "eca_nvim.session.requests.saved_chats",
    "eca_nvim.transport.terminal",
}
"""Modules of ours that only later work needs; above, modules of others."""


def test_the_first_chat_loads_only_what_it_needs(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    imports, asked, python = (tmp_path / name for name in ("imports", "asked", "python"))
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -X importtime "$@" 2>{imports}\n')
    python.chmod(0o755)
    server = scripted_server(expect("initialize"), write(asked, "yes"))
    nvim = start_nvim(settings={"python": str(python), "server": {"command": server.command}})
    nvim.keys(":EcaChat<CR>")
    nvim.wait_until(f"vim.uv.fs_stat('{asked}') ~= nil")
    loaded = {line.rpartition("|")[2].strip() for line in imports.read_text().splitlines()}
    assert "eca_nvim.session.session" in loaded
    assert loaded & (OTHERS | OURS) == set()


def test_what_a_host_has_loaded_is_in_one_file_for_the_next(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_server(expect("initialize"))
    settings = {"server": {"command": server.command}}
    nvim = start_nvim(settings=settings, environment={"XDG_CACHE_HOME": str(tmp_path)})
    nvim.keys(":EcaChat<CR>")
    nvim.wait_for(server.received, "initialize")
    nvim.quit()
    assert not nvim.child.orphans(30)
    assert b"eca_nvim.session.session" in (tmp_path / "nvim" / "eca" / "modules").read_bytes()
