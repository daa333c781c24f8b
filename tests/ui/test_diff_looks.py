"""How a diff tab page looks: both sides are drawn alike, and its keys say what they do."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.diffed import show, start_stage

CODE = {
    "py": "import os\n\n\ndef home() -> str:\n    return os.getcwd()\n",
    "lua": "local M = {}\n\nlocal N = 1\nlocal function home()\n  return M, N\nend\n",
}

COLOURS = """
return vim.tbl_map(function(win)
  local found = vim.inspect_pos(vim.api.nvim_win_get_buf(win), 3, 0)
  local item = found.treesitter[1] or found.syntax[1] or { hl_group_link = 'none' }
  return (#found.treesitter > 0 and '@ ' or '') .. item.hl_group_link
end, ...)
"""
TEXT_OFFSETS = "return vim.tbl_map(function(win) return vim.fn.getwininfo(win)[1].textoff end, ...)"
SIDES = """
return vim.tbl_filter(function(win)
  return vim.wo[win].diff or vim.wo[win].winbar ~= ''
end, vim.api.nvim_tabpage_list_wins(0))
"""
SIGN = "vim.api.nvim_buf_set_extmark(0, vim.api.nvim_create_namespace('x'), 0, 0, {sign_text='x'})"


@pytest.fixture
def stage(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    nvim = start_stage(start_nvim, workspace)
    nvim.command("syntax on")
    return nvim


@pytest.mark.parametrize("state", ["pending", "changed since", "done"])
@pytest.mark.parametrize("kind", CODE)
def test_both_sides_have_the_same_colours(
    stage: Neovim, workspace: Path, kind: str, state: str
) -> None:
    """While it is pending copies are compared, when it is done the real file is on the right."""
    path, before = workspace / f"home.{kind}", CODE[kind]
    after = before.replace("home", "house")
    path.write_text(after if state == "done" else before + "\n" * (state != "pending"))
    stage.command(f"split {path}")
    if kind == "lua":
        stage.lua("vim.treesitter.start()")
    show(stage, path, before, after, pending=state != "done")
    left, right = stage.lua(COLOURS, stage.lua(SIDES))
    assert left == right != "none"
    assert left.startswith("@") == (kind == "lua")


def test_a_file_without_colours_has_none_on_the_other_side(stage: Neovim, workspace: Path) -> None:
    path = workspace / "home.py"
    path.write_text(CODE["py"])
    stage.command(f"split {path} | setlocal syntax=")
    show(stage, path, CODE["py"], CODE["py"].replace("home", "house"))
    assert stage.lua(COLOURS, stage.lua(SIDES)) == ["none", "none"]


@pytest.mark.parametrize("pending", [True, False])
def test_the_text_of_both_sides_begins_in_the_same_column(
    stage: Neovim, workspace: Path, pending: bool
) -> None:
    path, before = workspace / "home.py", CODE["py"]
    after = before.replace("home", "house")
    path.write_text(before if pending else after)
    stage.command(f"split {path} | setlocal number signcolumn=auto")
    stage.lua(SIGN)
    show(stage, path, before, after, pending=pending)
    left, right = stage.lua(TEXT_OFFSETS, stage.lua(SIDES))
    assert left == right
    stage.keys("q")
    stage.wait_until("vim.fn.tabpagenr('$') == 1")
    assert stage.lua("return { vim.wo.number, vim.wo.signcolumn, vim.wo.diff }") == [
        True,
        "auto",
        False,
    ]


@pytest.mark.parametrize(
    ("columns", "keys"),
    [
        (120, "a allow  A always  r reject  R + reason  q close"),
        (100, "a allow  A always  r reject  R  q"),
        (80, "a allow  A  r reject  R  q"),
    ],
)
def test_keys_say_what_they_do_where_there_is_room(
    stage: Neovim, workspace: Path, columns: int, keys: str
) -> None:
    stage.resize(columns, 40)
    screen = show(stage, workspace / "code.txt")
    assert any(line.rstrip().endswith(f"  {keys}") for line in screen.lines())


@pytest.mark.parametrize(
    ("columns", "keys"),
    [
        (120, "1 allow  2 always  3 reject  R + reason  q close"),
        (80, "1 allow  2  3 reject  R  q"),
    ],
)
def test_where_room_is_scarce_reject_says_what_it_does_before_always(
    stage: Neovim, workspace: Path, columns: int, keys: str
) -> None:
    kinds = ("allow_once", "allow_always", "reject_once")
    choices = [{"id": kind, "name": kind, "kind": kind} for kind in kinds]
    stage.resize(columns, 40)
    screen = show(stage, workspace / "code.txt", choices=choices)
    assert any(line.rstrip().endswith(f"  {keys}") for line in screen.lines())
