"""Recorded changes are allowed as edited: what stood in the diff is what stands on the disk."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.recording import WORKSPACE
from tests.ui.talk import Value
from tests.ui.test_acp_recordings import WATCH
from tests.ui.test_recordings_undone import acp_server, eca_server

ACP: Final = ("qwen-edit-diff", "claudezed-write-new")
STANDS: Final = """
local request = require('eca').pending()[1]
if request and not request.hunks then
  require('eca').approve({ id = request.id })
end
return request and request.hunks ~= nil
"""
ENDED: Final = f"return (function() {STANDS} end)() == nil and vim.g.ended == 1"
TEXT: Final = """
local lines = vim.api.nvim_buf_get_lines(0, 0, -1, true)
return table.concat(lines, '\\n') .. (vim.bo.endofline and '\\n' or '')
"""


def allow_as_edited(nvim: Neovim, name: str) -> tuple[Path, str]:
    """Edit what waits in its diff tab, and allow it; returns the file and what stood there."""
    nvim.wait_for(lambda: nvim.lua(STANDS), f"a change of {name}")
    path = Path(nvim.lua("return require('eca').pending()[1].hunks[1].path"))
    nvim.command("Eca diff")
    nvim.wait_until("vim.fn.tabpagenr('$') == 2")
    nvim.keys("<C-w>lGgg]c-")
    nvim.wait_screen("nothing would be left: r rejects it")
    nvim.keys("2GGomine<Esc>")  # a number is a count here, and answers nothing
    nvim.wait_screen("as edited")
    text = str(nvim.lua(TEXT))
    nvim.keys("a")
    nvim.wait_until("vim.fn.tabpagenr('$') == 1")
    return path, text


def test_what_stood_in_the_diff_stands_on_the_disk(
    start_nvim: StartNeovim, workspace: Path, tmp_path: Path
) -> None:
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    played: dict[str, tuple[Value, Sequence[str]]] = {
        "edit_approved": eca_server("edit_approved", tmp_path),
        **{it: acp_server(it, tmp_path) for it in ACP},
    }
    servers = {name: server for name, (server, _) in played.items()}
    settings = {"server": "edit_approved", "servers": servers, "approval": {"guard": 0}}
    nvim = start_nvim(settings=settings, columns=80, lines=24)
    nvim.lua(WATCH)
    for name, (_, said) in played.items():
        nvim.lua("vim.g.ended = 0; require('eca').new({ server = ... })", name)
        nvim.wait_until("require('eca').status().server == 'ready'")
        nvim.lua("require('eca').send(...)", said[0].replace(WORKSPACE, str(workspace)))
        path, text = allow_as_edited(nvim, name)
        nvim.wait_for(
            lambda: nvim.lua(STANDS) is None and nvim.lua("return vim.g.ended") == 1, "the end"
        )
        assert path.read_text() == text, name
        nvim.command("messages clear")
