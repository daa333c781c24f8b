"""Changes are reviewed in the files themselves: shown, kept, reverted, and gone to."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.listed import LINES, change, file_lines, make_file, rows, show, start_stage, wait_row
from tests.ui.staged import CHAT, draw, sent, wait_sent
from tests.ui.talk import Value

MARKED = """
local found = {}
local namespace = vim.api.nvim_get_namespaces()['eca.review']
for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })) do
  found[#found + 1] = mark[2]
end
return found
"""
"""The rows of the current buffer that have something drawn."""
SIGNS = """
vim.api.nvim_create_autocmd('BufReadPost', { callback = function(event)
  local space = vim.api.nvim_create_namespace('gitsigns')
  local function sign(row, text)
    vim.api.nvim_buf_set_extmark(event.buf, space, row, 0, { sign_text = text, priority = 6 })
  end
  sign(4, 'G')
  sign(8, 'G')
  vim.keymap.set('n', ']c', '<Cmd>let g:theirs = 1<CR>', { buffer = event.buf })
  vim.keymap.set('n', '[c', '<Cmd>let g:theirs = 2<CR>', { buffer = event.buf })
end })
"""
"""What gitsigns does in a buffer: signs with its priority, and its keys."""


def hunk(path: Path, **fields: Value) -> dict[str, Value]:
    """Return a change as the host lists it for a review: line 5 of twenty, changed by `fields`."""
    found = change(path, **fields)
    return {"keys": [found["key"]], "old_parts": [[0, 0, 4]], "new_parts": [[0, 0, 4]], **found}


def answer(nvim: Neovim, count: int, *changes: Mapping[str, Value]) -> Mapping[str, Value]:
    """Answer the question of this number about what is not reviewed; return what was asked."""
    asked = wait_sent(nvim, "unreviewed", count)[-1]
    draw(nvim, ["answer", asked["request"], list(changes)])
    return asked


def review(nvim: Neovim, *changes: Mapping[str, Value]) -> None:
    """Begin a review as the host answers, and wait until the user is at the first change."""
    nvim.keys(":Eca review<CR>")
    answer(nvim, 1, *changes)
    nvim.wait_screen(" to review")


@pytest.fixture
def file(workspace: Path) -> Path:
    return make_file(workspace)


@pytest.fixture
def stage(start_nvim: StartNeovim, file: Path) -> Neovim:
    return start_stage(start_nvim, file.parent)


def test_a_change_is_shown_and_kept_and_the_file_is_as_it_was(stage: Neovim, file: Path) -> None:
    stage.command("edit code.txt | set number")
    text = "line 5, which was so long that it takes more than one row of this window, and more " * 2
    review(stage, hunk(file, before=[text]), hunk(file, key="k9", line=9, after=["line 9"]))
    stage.wait_screen("2 changes in 1 file to review")
    whole = f"4line4{text}▌5LINE5".replace(" ", "")

    def shown() -> str:
        return "".join(cell.text for row in stage.screen.rows for cell in row).replace(" ", "")

    stage.wait_for(lambda: whole in shown(), "all of the line, in two rows")
    assert stage.eval("line('.')") == 5
    assert stage.eval("[&modified, undotree().seq_last]") == [0, 0]
    stage.command("Eca changes keep")
    assert wait_sent(stage, "keep") == [{"chat": CHAT, "keys": ["k5"]}]
    stage.wait_until("not vim.fn.screenstring(5, 1):find('▌')")
    assert "▌   9 line 9" in stage.wait_screen("    5 LINE 5")
    stage.command("Eca changes keep")
    stage.wait_screen("no change under the cursor")
    stage.command("Eca review hide")
    assert "▌" not in stage.wait_screen("  8 line 8\n  9 line 9")
    assert stage.eval("[&modified, undotree().seq_last]") == [0, 0]


def test_a_change_is_reverted_where_it_stands_and_comes_back_with_an_undo(
    stage: Neovim, file: Path
) -> None:
    twin = [*LINES[:4], "LINE 5", *LINES[5:8], "between", *LINES[1:4], "LINE 5", *LINES[5:]]
    file.write_text("\n".join(twin) + "\n")
    stage.command("edit code.txt")
    found = hunk(file, line=13, keys=["k2", "k5"], turn=2)
    review(stage, found)
    stage.keys("ggOmine<Esc>")
    asked = answer(stage, 2, {**found, "line": 14})
    assert asked["path"] == str(file)
    stage.keys("14G:Eca changes revert<CR>")
    stage.wait_screen("reverted in code.txt, not written yet; u there undoes it")
    assert stage.buffer_lines() == ["mine", *twin[:12], "line 5", *twin[13:]]
    answer(stage, 3)
    stage.wait_until("vim.fn.screenstring(14, 1) ~= '▌'")
    stage.keys("u")
    answer(stage, 4, {**found, "line": 14})
    stage.wait_screen("▌ LINE 5")
    stage.keys("14GxP")  # lines that the host has not seen are not taken for those it has
    stage.keys("A!<Esc>:Eca changes revert<CR>")
    stage.wait_screen("the change was not found")
    stage.command("edit!")


def test_next_and_previous_go_over_all_files(stage: Neovim, file: Path) -> None:
    stage.command("nmap ]r <Plug>(EcaNextChange)")
    stage.command("nmap [r <Plug>(EcaPreviousChange)")
    stage.command("nmap <Leader>k <Plug>(EcaChangeKeep)")
    stage.command("nmap <Leader>r <Plug>(EcaChangeRevert)")
    other, made = file.with_name("other.txt"), file.with_name("made %# 'x.txt")
    other.write_text(file.read_text())
    made.write_text("new\n")
    stage.keys("]r")
    answer(
        stage,
        1,
        hunk(file),
        hunk(file, key="k9", line=9, before=["old 9"], after=["line 9"]),
        hunk(other, key="o"),
        hunk(made, key="n", kind="new", text="new file"),
        hunk(file.with_name("gone"), key="g", kind="deleted", text="deleted"),
    )
    stage.wait_screen("4 changes in 3 files to review, 1 in :Eca changes")

    def where() -> Sequence[Value]:
        found: Sequence[Value] = stage.eval("[expand('%:t'), line('.')]")
        return found

    assert where() == ["code.txt", 5]
    stage.keys("]r")
    assert where() == ["code.txt", 9]
    stage.wait_screen(r"2 of 4 to review  \k keeps, \r reverts")
    stage.keys("]r")
    assert where() == [made.name, 1]
    stage.wait_screen("new file, not reviewed yet")
    stage.keys("]r")
    assert where() == ["other.txt", 5]
    stage.keys("]r")
    assert where() == ["code.txt", 5]
    stage.keys("[r")
    assert where() == ["other.txt", 5]
    stage.keys(r"\k")
    assert wait_sent(stage, "keep")[0]["keys"] == ["o"]
    stage.keys("]r")
    assert where() == ["code.txt", 5]
    stage.keys("<C-o>")  # the jump list knows where the user was
    assert where() == ["other.txt", 5]


def test_the_list_and_the_files_share_one_state(stage: Neovim, file: Path) -> None:
    show(stage, change(file))
    stage.keys(":Eca review<CR>")
    answer(stage, 1, hunk(file))
    stage.wait_screen("▌")
    assert stage.eval("expand('%:t')") == "code.txt"
    stage.keys(":Eca changes comment<CR>")
    stage.wait_screen("Comment on code.txt:5")
    stage.keys("<C-c>")
    stage.command("Eca changes keep")
    wait_row(stage, 1, "kept")
    stage.command("cclose")
    show(stage, change(file))
    answer(stage, 2, hunk(file))
    stage.wait_screen("▌")
    stage.keys("a")
    stage.wait_until("not vim.fn.screenstring(5, 1):find('▌')")
    assert rows(stage)[1].startswith("kept")


def test_signs_and_keys_of_gitsigns_stay(start_nvim: StartNeovim, file: Path) -> None:
    stage = start_stage(start_nvim, file.parent)
    stage.lua(SIGNS)
    stage.command("edit code.txt | set number")
    found = hunk(file, key="k10", line=10, before=["old"], after=["line 10"])
    review(stage, hunk(file), found)
    screen = stage.wait_screen("▌  10 line 10")
    assert "G   5 LINE 5" in screen
    assert "G   9 line 9" in screen
    stage.command("set signcolumn=yes:2")
    both = ("G ▌   5 LINE 5", "▌ G   5 LINE 5")  # Neovims order them each in its way
    stage.wait_for(lambda: any(it in stage.screen for it in both), "both signs")
    stage.keys("]c[c")
    assert stage.eval("g:theirs") == 2
    stage.keys(":Eca review hide<CR>")
    stage.wait_until("not vim.fn.screenstring(5, 3):find('▌')")
    assert "G     5 LINE 5" in stage.wait_screen("9 line 9")


@pytest.mark.either_nvim
def test_only_what_is_near_the_screen_is_drawn(stage: Neovim, file: Path) -> None:
    file.write_text("".join(f"line {number}\n" for number in range(1, 4001)))
    stage.command("edit code.txt")
    hunks = [
        hunk(file, key=f"k{at}", line=at, before=["old"], after=[f"line {at}"])
        for at in range(2, 4000, 4)
    ]
    review(stage, *hunks)
    stage.wait_screen("▌ line 2")
    assert max(stage.lua(MARKED)) < 100
    stage.keys("2000G")
    stage.wait_screen("▌ line 2002")
    drawn = stage.lua(MARKED)
    assert min(drawn) > 1900
    assert max(drawn) < 2100
    stage.keys("gg:vertical diffsplit README.md<CR>")  # a diff shows changes itself
    stage.wait_until(
        "#vim.api.nvim_buf_get_extmarks(vim.fn.bufnr('code.txt'), "
        "vim.api.nvim_get_namespaces()['eca.review'], 0, -1, {}) == 0"
    )


@pytest.mark.either_nvim
def test_what_stands_at_the_ends_of_a_file_is_shown(stage: Neovim, file: Path) -> None:
    stage.command("edit code.txt")
    first = hunk(file, key="a", line=1, count=0, before=["was first"], after=[])
    last = hunk(file, key="b", line=21, count=0, before=["was \x1b[1m\u202elast"], after=[])
    review(stage, first, hunk(file), last)
    screen = stage.wait_screen("deleted above line 1:")
    assert "was first" in screen
    assert "was ^[[1m<U+202E>last" in screen
    stage.keys("gg:Eca changes revert<CR>")
    stage.wait_screen("reverted in code.txt")
    assert file_lines(stage, file)[:2] == ["was first", "line 1"]
    stage.keys("G:Eca changes revert<CR>")
    stage.wait_until("vim.fn.line('$') == 22")
    assert file_lines(stage, file)[-1] == "was \x1b[1m\u202elast"
    stage.command("edit!")


@pytest.mark.either_nvim
def test_of_trusted_chats_the_winbar_counts_what_is_not_reviewed(stage: Neovim, file: Path) -> None:
    stage.command("EcaChat")
    running = {"state": "running", "trust": True}
    draw(stage, ["status", CHAT, running])
    draw(stage, ["status", CHAT, {**running, "state": "idle"}])
    answer(stage, 1, hunk(file), hunk(file, key="b", line=9))
    stage.wait_screen("TRUST · 2 unreviewed")
    assert stage.lua("return require('eca').status().unreviewed") == 2
    draw(stage, ["status", CHAT, {"state": "idle", "trust": False}])
    stage.wait_until("not vim.wo.winbar:find('unreviewed') and not require('eca').status().trust")
    assert len(sent(stage, "unreviewed")) == 1
    stage.keys(":Eca trust on<CR>")
    draw(stage, ["status", CHAT, {"state": "idle", "trust": True}])
    answer(stage, 2)
    stage.wait_until("require('eca').status().unreviewed == 0")


@pytest.mark.either_nvim
def test_who_goes_on_typing_is_not_taken_to_a_change(stage: Neovim, file: Path) -> None:
    stage.keys(":Eca review<CR>")
    wait_sent(stage, "unreviewed")
    stage.keys("otyped")
    answer(stage, 1, hunk(file))
    stage.keys(" on<Esc>")
    stage.wait_screen("the first change was not opened, as you kept typing: ask again")
    assert "typed on" in stage.buffer_lines()
    stage.keys(":Eca review hide<CR>:Eca review<CR>")
    answer(stage, 2)
    stage.wait_screen("nothing left to review")
