"""Previews in a buffer: drawn, followed through edits, accepted and rejected."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Screen, Value
from tests.ui.staged import WITHOUT_HOST, draw, sent, wait_sent

from eca_nvim.chat.text.rewritten import hunks

FILE = "one\ntwo\nthree\nfour\nfive\n"
SAID = "vim.fn.execute('messages'):find({!r}, 1, true) ~= nil"
CHANGED = (
    "changed = {} vim.api.nvim_create_autocmd('User', { pattern = 'EcaPreviewChanged', "
    "callback = function(event) table.insert(changed, event.data.state) end })"
)


@pytest.fixture
def file(workspace: Path) -> Path:
    file = workspace / "words.txt"
    file.write_text(FILE)
    return file


def start(start_nvim: StartNeovim, file: Path, init: str = "", **more: Value) -> Neovim:
    init = WITHOUT_HOST + CHANGED + "vim.g.eca = { approval = { guard = 0 } }" + init
    return start_nvim(str(file), init=init, columns=80, lines=24, **more)


@pytest.fixture
def nvim(start_nvim: StartNeovim, file: Path) -> Neovim:
    return start(start_nvim, file)


def lines_of(nvim: Neovim, buf: int = 0) -> list[str]:
    lines: list[str] = nvim.request("nvim_buf_get_lines", buf, 0, -1, True)
    return lines


def tables(old: Sequence[str], new: Sequence[str]) -> list[Mapping[str, Value]]:
    found = [asdict(hunk) for hunk in hunks(old, new)]
    return [{**it, "old": it["old_parts"], "new": it["new_parts"]} for it in found]


def answer(nvim: Neovim, *new: str, state: str = "ready", **more: Value) -> str:
    """Answer the last rewrite as the host would."""
    asked = sent(nvim, "rewrite")[-1]
    found = tables(asked["lines"], new)
    draw(nvim, ["preview", asked["id"], state, found, 0, more.get("fault", ""), False])
    nvim.wait_until(f"(changed[#changed] == '{state}' or '{state}' == 'streaming')")
    return str(asked["id"])


def rewrite(nvim: Neovim, lines: str, *new: str) -> str:
    """Ask for a rewrite of lines, and answer it."""
    count = len(sent(nvim, "rewrite"))
    nvim.keys(f":{lines}Eca rewrite louder<CR>")
    wait_sent(nvim, "rewrite", count + 1)
    return answer(nvim, *new)


def ended(nvim: Neovim) -> bool:
    """Return whether nothing of a preview is left: no extmark, key or autocommand."""
    code = """
    local found = vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, {})
    local keys = vim.tbl_filter(function(it)
      return vim.startswith(it.desc or '', 'eca: ')
    end, vim.api.nvim_buf_get_keymap(0, 'n'))
    local groups = vim.tbl_filter(function(it)
      return (it.group_name or ''):find('eca.preview', 1, true)
    end, vim.api.nvim_get_autocmds({}))
    return #require('eca').previews() + #found + #keys + #groups
    """
    return bool(nvim.lua(code) == 0)


def text_of(screen: Screen) -> list[str]:
    return [row.rstrip() for row in screen.lines()]


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


def test_it_goes_on_when_the_file_is_read_again(nvim: Neovim, file: Path) -> None:
    rewrite(nvim, "2,4", "TWO", "three", "FOUR")
    nvim.keys("2Gdo")
    file.write_text("zero\n" + FILE)
    nvim.keys(":edit!<CR>")
    nvim.wait_screen("1 change ")
    nvim.keys("dO")
    assert lines_of(nvim) == ["zero", "one", "two", "three", "FOUR", "five"]
    rewrite(nvim, "2,4", "a", "b", "c")
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


# --- any edits ------------------------------------------------------------------------------------

TEXT = st.sampled_from(["", "}", "a", "  b", "ü"])
LINES = st.lists(TEXT, max_size=4)
SETUP = """
local before, first, last = ...
vim.cmd('enew!')
vim.bo.bufhidden = 'wipe'
vim.api.nvim_buf_set_lines(0, 0, -1, false, before)
return require('eca').rewrite({ range = { first, last }, prompt = 'x' })
"""
READY = """
local id, hunks = ...
require('eca.preview').set({ id = id, state = 'ready', hunks = hunks })
"""
EDIT = """
for _, edit in ipairs(...) do
  vim.api.nvim_buf_set_lines(0, edit[1], edit[2], true, edit[3])
end
vim.cmd.doautocmd('TextChanged')
"""
END = """
local act, id = ...
for _, preview in ipairs(require('eca').previews()) do
  if preview.id == id then
    require('eca')[act]({ id = id })
  end
end
for _, preview in ipairs(require('eca').previews()) do
  require('eca').drop({ id = preview.id })
end
return vim.api.nvim_buf_get_lines(0, 0, -1, false)
"""


@st.composite
def outside(draw_from: st.DrawFn) -> tuple[list[str], ...]:
    """Return lines above, in and below a region, the new ones, and what those around become.

    These are no lines of the answer: such would count as accepted.
    """
    above, below = draw_from(LINES), draw_from(LINES)
    old = draw_from(st.lists(TEXT, min_size=1, max_size=6))
    new = draw_from(st.lists(TEXT, min_size=1, max_size=6))
    others = st.lists(st.sampled_from(["x", "yy", "ü!"]), max_size=4)
    return above, old, below, new, draw_from(others), draw_from(others)


def edits_between(start: int, before: list[str], after: list[str]) -> list[Value]:
    """Return edits that make some lines others, each of one line or a few."""
    return [
        [start + hunk.first, start + hunk.last, hunk.lines]
        for hunk in reversed(hunks(before, after))
    ]


def test_edits_around_it_change_nothing_of_it(nvim: Neovim) -> None:
    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(outside(), st.sampled_from(["accept", "drop"]))
    def check(texts: tuple[list[str], ...], act: str) -> None:
        above, old, below, new, above_then, below_then = texts
        first = len(above) + 1
        made = nvim.lua(SETUP, [*above, *old, *below], first, first + len(old) - 1)
        nvim.lua(READY, made, tables(old, new))
        nvim.lua(EDIT, edits_between(len(above) + len(old), below, below_then))
        nvim.lua(EDIT, edits_between(0, above, above_then))
        left = nvim.lua(END, act, made)
        assert left == [*above_then, *(new if act == "accept" else old), *below_then]

    check()


@st.composite
def inside(draw_from: st.DrawFn) -> tuple[list[str], list[str], list[Value], list[Value]]:
    """Return lines, new ones, edits, and the edited lines with the number of the old line or -1."""
    old = draw_from(st.lists(TEXT, min_size=1, max_size=6))
    new = draw_from(st.lists(TEXT, min_size=1, max_size=6))
    now: list[Value] = [[number, text] for number, text in enumerate(old)]
    edits: list[Value] = []
    for _ in range(draw_from(st.integers(0, 3))):
        at = draw_from(st.integers(0, len(now)))
        what = draw_from(st.sampled_from(["insert", "delete", "change"]))
        if what == "insert":
            edits.append([at, at, ["new"]])
            now[at:at] = [[-1, "new"]]
        elif at < len(now) and what == "change":
            edits.append([at, at + 1, ["changed"]])
            now[at] = [-1, "changed"]
        elif at < len(now) and len(now) > 1:
            edits.append([at, at + 1, []])
            del now[at]
    return old, new, edits, now


def model(old: Sequence[str], new: Sequence[str], now: Sequence[Value]) -> list[str]:
    """Return the lines once all hunks are accepted whose old lines still stand."""
    left = [*now]
    for hunk in reversed(hunks(old, new)):
        places = {number: at for at, (number, _) in enumerate(left) if number >= 0}
        wanted = range(hunk.first, hunk.last)
        if not wanted:
            at = places[hunk.first - 1] + 1 if hunk.first - 1 in places else places.get(hunk.first)
            if at is not None:
                left[at:at] = [[-1, line] for line in hunk.lines]
        elif all(number in places for number in wanted):
            first = places[hunk.first]
            if [places[number] - first for number in wanted] == list(range(len(wanted))):
                left[first : first + len(wanted)] = [[-1, line] for line in hunk.lines]
    return [text for _, text in left]


def test_edits_in_it_keep_what_they_touch(nvim: Neovim) -> None:
    @settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
    @given(inside(), st.booleans())
    def check(texts: tuple[list[str], list[str], list[Value], list[Value]], below: bool) -> None:
        old, new, edits, now = texts
        around = ["below"] if below else []
        made = nvim.lua(SETUP, [*old, *around], 1, len(old))
        nvim.lua(READY, made, tables(old, new))
        nvim.lua(EDIT, edits)
        left = nvim.lua(END, "accept", made)
        edited = [*(text for _, text in now), *around]
        expected = [*model(old, new, now), *around] or [""]
        has_ended = all(number < 0 for number, _ in now)
        assert left == expected or (has_ended and left == edited)

    check()
