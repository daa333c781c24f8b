"""What Neovim itself keeps of windows that were closed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.soak.counts import TRIM, memory_of
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
  vim.wo[win].winhighlight = 'NormalFloat:Pmenu,FloatBorder:Pmenu,FoldColumn:Pmenu,NonText:Pmenu'
  vim.cmd.redraw()
  vim.api.nvim_win_close(win, true)
end
"""


def kept_of_a_window(version: str, home: Path) -> float:
    """Return the KiB that a Neovim keeps of each window with its own colours; no plugin runs."""
    home.mkdir()
    nvim = Neovim(Launch(version, home, home, str(home), 120, 40))
    values = list[int]()
    for _ in range(ROUNDS):
        nvim.lua(OPEN_AND_CLOSE, WINDOWS)
        nvim.lua(TRIM)
        values.append(memory_of(nvim.pid))
    nvim.finish()
    half = ROUNDS // 2  # the first ones fill what is used again
    return (values[-1] - values[half - 1]) / (ROUNDS - half) / WINDOWS
