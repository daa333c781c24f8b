"""A diff tab page, drawn with ops as the host sends them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Screen, Value
from tests.ui.staged import CHAT, WITHOUT_HOST, approval, draw, request

BEFORE = "".join(f"line {number}\n" for number in range(1, 31))
AFTER = BEFORE.replace("line 20\n", "line twenty\n")

LAYOUT = """
return {
  vim.fn.tabpagenr('$'), vim.fn.winlayout(), vim.api.nvim_get_current_win(),
  vim.api.nvim_win_get_cursor(0), vim.api.nvim_get_current_buf(), vim.fn.winrestcmd(),
}
"""

NO_FLOAT = "vim.api.nvim_win_get_config(0).relative == ''"
"""The moment after an answer is over, in which the float has the focus."""


def start_stage(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    """Start Neovim with two windows of a file, no host, and no guard time."""
    (workspace / "code.txt").write_text(BEFORE)
    settings = {"approval": {"guard": 0}}
    nvim = start_nvim("README.md", init=WITHOUT_HOST, settings=settings, columns=160, lines=40)
    nvim.command("vsplit | split | wincmd j | normal! G")
    return nvim


def show(
    nvim: Neovim,
    path: Path,
    before: str = BEFORE,
    after: str = AFTER,
    kind: str = "changed",
    fault: str | None = None,
    remark: str | None = None,
    *,
    pending: bool = True,
    remember: bool = True,
    file: Mapping[str, Value] | None = None,
    choices: Sequence[Mapping[str, Value]] | None = None,
    is_open: bool = False,
) -> Screen:
    """Draw what the host sends for a diff of call t1."""
    remembered = ["edit_file"] if remember else []
    listed: Mapping[str, Value] = {"choices": choices, "listed": True} if choices else {}
    items = [approval(paths=[str(path)], remember=remembered, **listed)] if pending else []
    shown: list[Value] = [
        "diff",
        CHAT,
        "t1",
        str(path),
        before,
        after,
        kind,
        request() if pending else None,
        fault,
        remark,
        file,
        [],
        pending and fault is None and is_open,
    ]
    draw(nvim, ["pending", items], shown)
    nvim.wait_until("vim.fn.tabpagenr('$') == 2")
    nvim.keys("")
    return nvim.wait_screen("]c")


def diff_rows(nvim: Neovim) -> list[int]:
    """Return the rows of the current window that vimdiff colours as changed."""
    code = """
    local changed = function(row) return vim.fn.diff_hlID(row, 1) > 0 end
    return vim.tbl_filter(changed, vim.fn.range(1, vim.fn.line('$')))
    """
    rows: list[int] = nvim.lua(code)
    return rows
