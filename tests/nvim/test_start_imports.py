"""What the host loads until a prompt could be sent: each module makes the first chat wait."""

import sys
from pathlib import Path

from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import handshake

LATE = {"bz2", "difflib", "lzma", "random", "secrets", "shutil", "tempfile", "unidiff"}
"""Modules that only later work needs."""


def test_the_first_chat_loads_only_what_it_needs(
    start_nvim: StartNeovim, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    written, python = tmp_path / "imports", tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -X importtime "$@" 2>{written}\n')
    python.chmod(0o755)
    server = scripted_server(handshake())
    nvim = start_nvim(settings={"python": str(python), "server": {"command": server.command}})
    nvim.lua(
        """
        vim.api.nvim_create_autocmd('User', {
          pattern = 'EcaServerReady',
          callback = function()
            _G.imports = vim.fn.readfile(...)
          end,
        })""".replace("...", repr(str(written)))
    )
    nvim.keys(":EcaChat<CR>")
    nvim.wait_until("_G.imports ~= nil")
    lines = nvim.lua("return _G.imports")
    loaded = {line.rpartition("|")[2].strip() for line in lines}
    assert "eca_nvim.session.session" in loaded
    assert not LATE & loaded
