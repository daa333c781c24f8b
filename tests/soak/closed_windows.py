"""What Neovim itself keeps of windows that were closed: the namespace of their colours."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.soak.counts import TRIM
from tests.support.editor import Neovim
from tests.support.launch import Launch

ROUNDS: Final = 20
WINDOWS: Final = 100
"""As many in a round."""
OPEN_AND_CLOSE: Final = """
local buf = vim.api.nvim_create_buf(false, true)
for _ = 1, ... do
  local config = { relative = 'editor', row = 1, col = 1, width = 9, height = 3, style = 'minimal' }
  local win = vim.api.nvim_open_win(buf, false, config)
  vim.wo[win].winhighlight = 'LineNr:Pmenu,NormalFloat:Pmenu,FloatBorder:Pmenu,WinBar:Pmenu'
  vim.cmd.redraw()
  vim.api.nvim_win_close(win, true)
end
vim.api.nvim_buf_delete(buf, { force = true })
"""


def kept_of_a_window(version: str, home: Path) -> float:
    """Return the KiB that a Neovim keeps of each window with its own colours; no plugin runs."""
    home.mkdir()
    nvim = Neovim(Launch(version, home, home, str(home), 120, 40))
    values = list[int]()
    for _ in range(ROUNDS):
        nvim.lua(OPEN_AND_CLOSE, WINDOWS)
        values.append(nvim.lua(f"{TRIM} return used"))
    nvim.finish()
    half = ROUNDS // 2  # the first ones fill what is used again
    return (values[-1] - values[half - 1]) / (ROUNDS - half) / WINDOWS
