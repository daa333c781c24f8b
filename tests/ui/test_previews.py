"""Previews in a buffer: drawn, followed through edits, accepted and rejected."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.previewed import (
    FILE,
    SAID,
    answer,
    ended,
    lines_of,
    rewrite,
    start,
    tables,
    text_of,
)
from tests.ui.staged import draw, sent, wait_sent


@pytest.fixture
def file(workspace: Path) -> Path:
    file = workspace / "words.txt"
    file.write_text(FILE)
    return file


@pytest.fixture
def nvim(start_nvim: StartNeovim, file: Path) -> Neovim:
    return start(start_nvim, file)


def test_a_rewrite_is_shown_and_accepted_as_one_undo_step(nvim: Neovim, file: Path) -> None:
    nvim.keys("gg:3mark a<CR>:set foldmethod=manual<CR>:4,5fold<CR>G")
    nvim.keys(":2,3Eca rewrite louder<CR>")
    [asked] = wait_sent(nvim, "rewrite")
    assert (asked["lines"], asked["first"], asked["path"]) == (["two", "three"], 2, str(file))
    assert (asked["instruction"], asked["modified"]) == ("louder", False)
    assert (asked["above"], asked["below"]) == (["one"], ["four", "five"])
    nvim.wait_screen("rewrite: waits for the answer · 0 s  dQ stop")
    assert lines_of(nvim) == FILE.split()
    answer(nvim, "two!", "2.5", "three")
    screen = nvim.wait_screen("1 change")
    assert text_of(screen)[:5] == ["one", "two", "two!", "2.5", "three"]
    assert lines_of(nvim) == FILE.split(), "nothing is changed before it is accepted"
    nvim.keys("dO")
    assert lines_of(nvim) == ["one", "two!", "2.5", "three", "four", "five"]
    assert nvim.eval("[line(\"'a\"), foldclosed(5), foldclosed(6), line('.')]") == [4, 5, 5, 6]
    assert ended(nvim)
    nvim.keys("u")
    assert lines_of(nvim) == FILE.split()
    assert nvim.lua("return changed")[-1] == "closed"


def test_each_hunk_is_accepted_or_rejected_at_the_cursor(nvim: Neovim) -> None:
    rewrite(nvim, "1,5", "ONE", "two", "THREE", "four", "FIVE")
    nvim.wait_screen("3 changes  do accept  dO all  dx reject  dX all")
    nvim.keys("3G")
    nvim.keys("do")
    assert lines_of(nvim) == ["one", "two", "THREE", "four", "five"]
    nvim.wait_screen("2 changes")
    nvim.keys("ggdx")
    nvim.wait_screen("1 change ")
    public = nvim.lua("return require('eca').previews()")
    assert [(it["kind"], it["state"]) for it in public] == [("rewrite", "ready")]
    assert public[0]["hunks"] == [{"first": 5, "last": 5, "lines": ["FIVE"]}]
    nvim.lua("require('eca').accept({ id = ..., hunk = 1 })", public[0]["id"])
    assert lines_of(nvim) == ["one", "two", "THREE", "four", "FIVE"]
    assert ended(nvim)
    rewrite(nvim, "1,5", "ONE", "two", "THREE", "four", "FIVE")
    nvim.keys("dX")
    assert lines_of(nvim) == ["one", "two", "THREE", "four", "FIVE"]
    assert ended(nvim)
    nvim.keys(":Eca rewrite<CR>")  # the paragraph, and a prompt that names it
    nvim.wait_screen("Rewrite this paragraph (lines 1-5) (empty: choose):")
    nvim.keys("quieter<CR>")
    assert wait_sent(nvim, "rewrite", 3)[-1]["instruction"] == "quieter"
    nvim.keys("dQ")
    assert sent(nvim, "stop_preview")[-1]["id"] == sent(nvim, "rewrite")[-1]["id"]
    assert ended(nvim)


def test_edits_move_it_and_make_conflicts(nvim: Neovim) -> None:
    rewrite(nvim, "2,4", "TWO", "three", "FOUR")
    nvim.keys("ggOzero<Esc>")  # above
    nvim.keys("Gosix<Esc>")  # below
    nvim.keys("/^two<CR>A and a half<Esc>")
    nvim.wait_screen("1 change, 1 conflict")
    nvim.wait_screen("conflict: you have edited these lines")
    nvim.keys("do")
    nvim.wait_until(SAID.format("not accepted: you have edited these lines"))
    nvim.keys("dO")
    edited = ["zero", "one", "two and a half", "three", "FOUR", "five", "six"]
    assert lines_of(nvim) == edited
    nvim.wait_until(SAID.format("1 conflict is left"))
    nvim.keys("u")  # the change comes back, which is no part of the preview any more
    nvim.keys("/^two<CR>$daw:s/ and a//<CR>")
    nvim.wait_screen("1 change ")
    nvim.keys("dO")
    assert "TWO" in lines_of(nvim)
    assert ended(nvim)
    rewrite(nvim, "2,4", "a", "b")
    nvim.keys("2GdG")
    nvim.wait_until(SAID.format("a preview has ended: its lines were deleted"))
    assert ended(nvim)


READ_AGAIN = """
local id, hunks = ...
vim.cmd('edit!') -- until its lines are looked for, nothing knows where they are
require('eca.preview').set({ id = id, state = 'ready', hunks = hunks })
"""


def test_it_goes_on_when_a_line_was_moved_away_and_the_file_is_read_again(
    nvim: Neovim, file: Path
) -> None:
    rewrite(nvim, "2,4", "TWO", "three", "FOUR")
    nvim.keys(":3move $<CR>:silent write<CR>")
    file.write_text("one\ntwo\nfour\n")
    nvim.keys(":edit!<CR>")
    nvim.wait_screen("2 changes ")
    nvim.keys("dO")
    assert "TWO" in lines_of(nvim)


def test_it_goes_on_when_the_file_is_read_again(nvim: Neovim, file: Path) -> None:
    rewrite(nvim, "2,4", "TWO", "three", "FOUR")
    nvim.keys("2Gdo")
    file.write_text("zero\n" + FILE)
    nvim.keys(":edit!<CR>")
    nvim.wait_screen("1 change ")
    nvim.keys("dO")
    assert lines_of(nvim) == ["zero", "one", "two", "three", "FOUR", "five"]
    nvim.keys(":2,4Eca rewrite louder<CR>")
    asked = wait_sent(nvim, "rewrite", 2)[-1]
    found = tables(asked["lines"], ["a", "b", "c"])
    nvim.lua(READ_AGAIN, asked["id"], found)
    nvim.wait_screen("1 change ")
    file.write_text("other\n")
    nvim.keys(":edit!<CR>")
    nvim.wait_until(SAID.format("a preview has ended: its lines are not in the file any more"))
    assert ended(nvim)
    rewrite(nvim, "1", "another")
    nvim.keys(":bwipeout!<CR>")
    assert nvim.lua("return require('eca').previews()") == []


def test_faults_say_why_and_what_to_press(nvim: Neovim) -> None:
    nvim.keys(":2Eca rewrite louder<CR>")
    wait_sent(nvim, "rewrite")
    answer(nvim, "two", state="failed", fault="the answer is empty")
    nvim.wait_screen("rewrite: the answer is empty  dR again  dI edit  dX close")
    nvim.keys("do")
    nvim.wait_until(SAID.format("nothing accepted: the answer is empty"))
    nvim.keys("dR")
    again = wait_sent(nvim, "rewrite", 2)[-1]
    assert (again["instruction"], again["lines"]) == ("louder", ["two"])
    nvim.keys("dIest<CR>")
    assert wait_sent(nvim, "rewrite", 3)[-1]["instruction"] == "louderest"
    nvim.keys("do")
    nvim.wait_until(SAID.format("nothing accepted: the answer is not complete yet"))
    nvim.keys(":1,3Eca rewrite x<CR>")
    nvim.wait_until(SAID.format("a preview stands in these lines already"))
    answer(nvim, "2")
    nvim.keys(":set nomodifiable<CR>dO")
    nvim.wait_until(SAID.format("not accepted: "))
    nvim.keys(":set modifiable<CR>dO")
    assert lines_of(nvim)[1] == "2"
    nvim.lua("require('eca').accept({ id = 'none' })")
    nvim.wait_until(SAID.format("no preview with the id 'none'"))
    nvim.keys(":Eca rewrite x<CR>:lua require('eca.preview').host_gone()<CR>")
    nvim.wait_screen("rewrite: the plugin host has ended")


def test_lines_are_wrapped_and_nothing_in_them_acts(nvim: Neovim) -> None:
    long = "w" * 78 + "end"
    wide = "\t" + "ü👍" * 30
    odd = "a\x1b[31m\u202eb\rc"
    rewrite(nvim, "2", long, wide, odd)
    screen = nvim.wait_screen("1 change")
    rows = text_of(screen)
    joined = "".join(row.strip() for row in rows)
    assert long in joined
    assert "a^[[31m<U+202E>b^Mc" in joined
    assert joined.count("👍") == 30
    nvim.keys("dO")
    assert lines_of(nvim)[1:4] == [long, wide, odd]


def test_the_first_and_the_last_line_and_no_lines(start_nvim: StartNeovim, file: Path) -> None:
    file.write_bytes(b"one\r\ntwo\r\nthree")
    nvim = start(start_nvim, file)
    nvim.command("setlocal nofixendofline")
    rewrite(nvim, "1", "zero", "one")
    screen = nvim.wait_screen("1 change")
    assert text_of(screen)[:3] == ["one", "zero", "one"], "no line is drawn above the first row"
    nvim.keys("dO")
    rewrite(nvim, "4", "three", "four")
    nvim.wait_screen("1 change")
    nvim.keys("dO:write<CR>")
    assert file.read_bytes() == b"zero\r\none\r\ntwo\r\nthree\r\nfour"
    nvim.keys(":enew<CR>")
    rewrite(nvim, "1", "made", "up")
    nvim.wait_screen("1 change")
    nvim.keys("dO")
    assert lines_of(nvim) == ["made", "up"]


def test_keys_of_the_user_win(start_nvim: StartNeovim, file: Path) -> None:
    init = """
    vim.keymap.set('n', 'do', 'itheirs<Esc>')
    vim.keymap.set('n', 'gA', '<Plug>(EcaPreviewAccept)')
    """
    nvim = start(start_nvim, file, init)
    rewrite(nvim, "2", "TWO")
    nvim.wait_screen("1 change  gA accept  dO all")
    nvim.keys("ggdo")
    assert lines_of(nvim)[0] == "theirsone"
    nvim.keys("gA")
    assert lines_of(nvim)[1] == "TWO"
    nvim.lua("require('eca').setup({ previews = { keymaps = false } })")
    rewrite(nvim, "2", "2")
    screen = nvim.wait_screen("1 change")
    assert "dO" not in screen


def test_the_operator_repeats(start_nvim: StartNeovim, file: Path) -> None:
    file.write_text("one\ntwo\n\nthree\n\nfour\nfive\n")
    nvim = start(start_nvim, file, "vim.keymap.set({ 'n', 'x' }, 'gz', '<Plug>(EcaRewrite)')")
    nvim.keys("gzip")
    nvim.wait_screen("Rewrite words.txt (lines 1-2) (empty: choose):")
    nvim.keys("louder<CR>")
    wait_sent(nvim, "rewrite")
    answer(nvim, "ONE", "TWO")
    nvim.keys("dO")
    nvim.keys("4G.")
    assert wait_sent(nvim, "rewrite", 2)[-1]["lines"] == ["three"]
    assert sent(nvim, "rewrite")[-1]["instruction"] == "louder"
    nvim.keys("6Gvjgzquieter<CR>")
    asked = wait_sent(nvim, "rewrite", 3)[-1]
    assert (asked["lines"], asked["instruction"]) == (["four", "five"], "quieter")
    nvim.keys("1Ggz")
    nvim.keys("<Esc>1Ggzj<Esc>")  # cancelled twice: nothing is sent
    nvim.keys("1G:Eca rewrite!<CR>")
    draw(nvim, ["answer", wait_sent(nvim, "list_templates")[-1]["request"], True])
    nvim.wait_screen("1: quieter")
    nvim.keys("2<CR>")
    assert wait_sent(nvim, "rewrite", 4)[-1]["instruction"] == "louder"


def test_how_a_tall_one_stands_is_said_where_it_is_seen(
    start_nvim: StartNeovim, file: Path
) -> None:
    file.write_text(
        "".join(f"line {number} {'x' * (number < 3) * 60}\n" for number in range(1, 60))
    )
    nvim = start(start_nvim, file)
    nvim.keys(":1,50Eca rewrite louder<CR>")
    wait_sent(nvim, "rewrite")
    rows = text_of(nvim.wait_screen("rewrite: waits for the answer"))
    assert rows[2].startswith("line 3"), "the first one with room for it"
    assert rows[2].endswith("dQ stop")
    nvim.keys("G")
    screen = nvim.wait_screen("rewrite: waits for the answer")
    assert screen.text().count("waits for the answer") == 1
    nvim.keys("dQ")
    nvim.wait_until("#require('eca').previews() == 0")


def test_a_tall_one_is_a_diff_where_do_is_vims(start_nvim: StartNeovim, file: Path) -> None:
    many = [f"line {number}" for number in range(1, 31)]
    file.write_text("\n".join(many) + "\n")
    nvim = start(start_nvim, file)
    new = [f"{line}!" if number % 3 == 0 else line for number, line in enumerate(many)]
    rewrite(nvim, "1,30", *new)
    nvim.wait_until("vim.fn.tabpagenr('$') == 2")
    screen = nvim.wait_screen("a accept all  r reject all")
    assert "rewrite:" not in screen
    nvim.keys("<C-w>h1G")
    nvim.wait_until("vim.fn.expand('%:t') == 'words.txt'")
    nvim.keys("do")
    assert lines_of(nvim)[0] == "line 1!"
    nvim.keys("<C-w>lq")
    nvim.wait_until("vim.fn.tabpagenr('$') == 1")
    assert len(nvim.lua("return require('eca').previews()")[0]["hunks"]) == 9
    nvim.keys("dD")
    nvim.wait_until("vim.fn.tabpagenr('$') == 2")
    nvim.keys("a")
    nvim.wait_until("vim.fn.tabpagenr('$') == 1")
    assert lines_of(nvim) == new
    assert ended(nvim)


def test_the_function_around_the_cursor_is_meant(start_nvim: StartNeovim, workspace: Path) -> None:
    file = workspace / "mod.lua"
    file.write_text("local M = {}\n\nfunction M.add(a, b)\n\n  return a + b\nend\n\nreturn M\n")
    nvim = start(start_nvim, file)
    nvim.keys("5G:Eca rewrite<CR>")
    nvim.wait_screen("Rewrite M.add (lines 3-6)")
    nvim.keys("<Esc>gg:Eca rewrite<CR>")
    nvim.wait_screen("Rewrite this paragraph (line 1)")
    nvim.keys("<Esc>")
    assert not sent(nvim, "rewrite")


def test_one_whose_buffer_was_wiped_out_unnoticed_ends(nvim: Neovim) -> None:
    for is_late in (False, True):
        nvim.keys(":edit words.txt<CR>:2Eca rewrite louder<CR>")
        asked = wait_sent(nvim, "rewrite", 1 + is_late)[-1]
        if not is_late:
            rewrite(nvim, "4", "FOUR")
        nvim.keys(":noautocmd bwipeout!<CR>")
        if is_late:
            draw(nvim, ["preview", asked["id"], "ready", tables(["two"], ["TWO"]), 0, "", False])
        nvim.wait_until("changed[#changed] == 'closed'")
        assert nvim.lua("return require('eca').previews()") == []
    assert ended(nvim)


def test_the_operator_leaves_no_autocommands(start_nvim: StartNeovim, file: Path) -> None:
    nvim = start(start_nvim, file, "vim.keymap.set({ 'n', 'x' }, 'gz', '<Plug>(EcaRewrite)')")
    count = "return #vim.api.nvim_get_autocmds({ event = 'ModeChanged', pattern = 'no*:*' })"
    for _ in range(3):
        nvim.keys("1Gvjgz<C-c>")
        nvim.keys("<Esc>")
    assert nvim.lua(count) <= 1
