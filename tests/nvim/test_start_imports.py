"""What the host loads until it speaks to its server: each module makes the first chat wait."""

import sys
from pathlib import Path

from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import expect, write

OTHERS = {"_ssl", "bz2", "difflib", "lzma", "random", "secrets", "shutil", "tempfile", "unidiff"}
OURS = {
    "eca_nvim.agents.acp",
    "eca_nvim.protocol.acp",
    "eca_nvim.chat.render.markdown",
    "eca_nvim.protocol.eca.mcp",
    "eca_nvim.review.undo",
    "eca_nvim.session.requests.review",
    "eca_nvim.session.requests.saved_chats",
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
