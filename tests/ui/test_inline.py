"""Inline completion: what is asked, what is drawn at the cursor, and what keys do with it.

The test answers as the host does.
"""

from collections.abc import Mapping

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.staged import WITHOUT_HOST, draw, sent, wait_sent

KEYS = """
local function map(key, plug)
  vim.keymap.set('i', key, '<Plug>(Eca' .. plug .. ')')
end
map('<F2>', 'AcceptCompletion')
map('<F3>', 'AcceptWord')
map('<F4>', 'AcceptLine')
map('<F5>', 'DismissCompletion')
map('<F6>', 'Complete')
vim.keymap.set('i', '<Tab>', function()
  return require('eca').completion() and '<Plug>(EcaAcceptCompletion)' or '<Tab>'
end, { expr = true, remap = true })
require('eca.inline').PAUSE = 1
"""
ON: Mapping[str, Value] = {"completion": {"inline": True}}


def start(start_nvim: StartNeovim, *lines: str, **options: Value) -> Neovim:
    """Edit a file with inline completion on; there is nothing else in it than these lines."""
    init = WITHOUT_HOST + KEYS + options.pop("init", "")
    nvim = start_nvim("code.txt", init=init, columns=80, **{"settings": ON, **options})
    fill(nvim, *lines)
    return nvim


def fill(nvim: Neovim, *lines: str) -> None:
    nvim.keys("<Esc>")
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, ...)", lines)


def text(nvim: Neovim) -> str:
    return "\n".join(nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, true)"))


def type_keys(nvim: Neovim, keys: str) -> Mapping[str, Value]:
    """Type until a pause, and return what is asked then."""
    count = len(sent(nvim, "complete_code"))
    nvim.keys(keys)
    ticks = "vim.api.nvim_buf_get_changedtick(0)"
    last = (
        "vim.iter(require('eca.host').sent):rfind(function(it) return it[1] == 'complete_code' end)"
    )
    nvim.wait_until(f"({last} or {{ 0, {{}} }})[2].version == {ticks}")
    return wait_sent(nvim, "complete_code", count + 1)[-1]


def answer(nvim: Neovim, asked: Mapping[str, Value], **value: Value) -> None:
    """Answer as the host does, and wait until that is drawn."""
    draw(nvim, ["answer", asked["request"], value])
    nvim.lua("_G.drawn = nil vim.schedule(vim.schedule_wrap(function() _G.drawn = true end))")
    nvim.wait_until("_G.drawn")


def offered(nvim: Neovim) -> str | None:
    """Return what a key could accept."""
    found: str | None = nvim.lua("return require('eca').completion()")
    return found


def offer(nvim: Neovim, keys: str, what: str) -> None:
    type_keys(nvim, keys)

    def is_offered() -> bool:
        answer(nvim, sent(nvim, "complete_code")[-1], text=what)  # it may ask once more
        return offered(nvim) == what

    nvim.wait_for(is_offered, f"{what!r} to be offered")


def test_a_text_is_typed_along_and_accepted_by_word_and_line(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, "def add(a, b):", "    ", "end", init="vim.o.textwidth = 12")
    asked = type_keys(nvim, "2GAr")
    assert asked["text"] == "def add(a, b):\n    r\nend\n"
    assert (asked["line"], asked["character"], asked["asked"]) == (2, 6, False)
    assert asked["path"] == nvim.lua("return vim.api.nvim_buf_get_name(0)")
    assert asked["version"] == nvim.eval("b:changedtick")
    answer(nvim, asked, text="eturn a + b\n    # sum of both, and more")
    nvim.wait_screen("    return a + b\n")
    nvim.wait_screen("    # sum of both, and more\n")
    assert text(nvim) == "def add(a, b):\n    r\nend"
    nvim.keys("etu")
    assert offered(nvim) == "rn a + b\n    # sum of both, and more"
    nvim.keys("<F3>")
    nvim.keys("<F3>")
    assert text(nvim) == "def add(a, b):\n    return a\nend"
    nvim.keys("<F4>")
    assert text(nvim) == "def add(a, b):\n    return a + b\nend"
    nvim.keys("<CR>")
    assert offered(nvim) == "# sum of both, and more", "Vim has indented as the text does"
    assert len(sent(nvim, "complete_code")) == 1
    for undone in ("    return a + b", "    return a", "    return", "    retu", "    "):
        nvim.keys("<Esc>u")
        assert text(nvim) == f"def add(a, b):\n{undone}\nend"


def test_accepted_text_stays_as_it_was_shown(start_nvim: StartNeovim) -> None:
    """Neither options nor plugins for pairs change it; `.` repeats it, `u` removes it alone."""
    pairs = """
    vim.o.textwidth, vim.o.autoindent, vim.o.smartindent = 30, true, true
    vim.o.expandtab, vim.o.shiftwidth = true, 3
    vim.keymap.set('i', '(', '()<Left>')
    vim.keymap.set('ia', 'teh', 'the')
    vim.api.nvim_create_autocmd('InsertCharPre', { callback = function() vim.v.char = '!' end })
    _G.pasted = vim.paste
    vim.paste = function(lines, phase)
      return _G.pasted({ 'changed' }, phase)
    end
    """
    nvim = start(start_nvim, "\tif x:", "", init=pairs)
    what = "(teh long text that does not fit)\n\t\tif y {\n\t(a"
    nvim.lua("vim.v.char = ''")
    nvim.keys("A")
    nvim.lua("vim.cmd('autocmd! InsertCharPre')")
    offer(nvim, "z", what)
    nvim.keys("<F2>")
    nvim.keys("b<Esc>")
    assert text(nvim) == f"\tif x:z{what}b\n"
    nvim.keys("u")
    assert text(nvim) == f"\tif x:z{what}\n"
    nvim.keys("u")
    assert text(nvim) == "\tif x:z\n"
    nvim.keys("<C-r><C-r>")
    assert text(nvim) == f"\tif x:z{what}b\n"
    fill(nvim, "", "")
    nvim.lua("vim.cmd('set tw=0 noai nosi | iunmap (') vim.paste = _G.pasted")
    offer(nvim, "ggAx", "(one")
    nvim.keys("<F2>")
    nvim.keys(")<Esc>j.")
    assert text(nvim) == "x(one)\nx(one)"


EMOJI = "héllo 🎉"
EDGES = [
    # lines, keys; line and character that are asked; what comes; the text then
    ([""], "ix", (1, 2), "yz", "xyz"),
    (["", ""], "G", None, "", "\n"),
    ([EMOJI], "Ax", (1, 10), "🎉\né", f"{EMOJI}x🎉\né"),
    ([EMOJI], "0ix", (1, 2), "é", f"xé{EMOJI}"),
    (["\t\tend"], "0ix", (1, 2), "\ty\t", "x\ty\t\t\tend"),
    (["a", "b"], "GAx", (2, 3), "\n", "a\nbx\n"),
    (["日本", "語"], "1GAx", (1, 4), "本\n語", "日本x本\n語\n語"),
    (["e\u0301 x"], "0lix", (1, 4), "y", "e\u0301xy x"),
]


def test_every_edge_of_a_buffer(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim)
    for lines, keys, place, what, then in EDGES:
        if place is None:
            continue
        fill(nvim, *lines)
        asked = type_keys(nvim, f"gg0{keys}")
        assert (asked["line"], asked["character"]) == place, lines
        answer(nvim, asked, text=what)
        assert offered(nvim) == what, lines
        nvim.keys("<F2>")
        assert text(nvim) == then
    nvim.lua("vim.bo.fileformat, vim.bo.endofline, vim.bo.fixendofline = 'dos', false, false")
    fill(nvim, "a", "b")
    assert type_keys(nvim, "ggAx")["text"] == "ax\nb"


def test_answers_that_come_late_are_dropped(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, "one", "two")
    first = type_keys(nvim, "ggAx")
    second = type_keys(nvim, "y")
    assert len(sent(nvim, "cancel_code")) == 1
    answer(nvim, first, text="late")
    assert offered(nvim) is None
    answer(nvim, second, text="in time")
    answer(nvim, first, text="late")
    assert offered(nvim) == "in time"
    for leave in ("<Left>", "<BS>", "<Esc>a", "<Esc>:enew<CR>a", "<F5>"):
        nvim.command("edit! code.txt")
        fill(nvim, "one")
        asked = type_keys(nvim, "ggAx")
        nvim.keys(leave)
        answer(nvim, asked, text="late")
        assert offered(nvim) is None, leave
    nvim.command("edit! code.txt")
    fill(nvim, "one")
    for leave in ("<Left>", "<BS>", "q", "<CR>", "<Esc>a", "<F5>", "<C-o>0"):
        offer(nvim, "<Esc>ggAx", "abc")
        nvim.keys(leave)
        assert offered(nvim) is None, leave
        assert nvim.lua("return #vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, {})") == 0
    offer(nvim, "<Esc>ggAx", "abc")
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, 0, true, { 'of a formatter' })")
    nvim.keys("a")
    assert offered(nvim) is None


def test_what_is_drawn_is_what_would_be_inserted(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, *(f"line {number}" for number in range(1, 30)))
    nvim.lua("vim.o.number, vim.o.tabstop = true, 4")
    offer(nvim, "3GI(", "a,\n\tb\t" + "c" * 90 + "\nd)")
    nvim.wait_screen("  3 (a,\n")
    nvim.wait_screen("        b   " + "c" * 68 + "\n    " + "c" * 22 + "\n    d)line 3\n")
    nvim.keys("<F4>")
    nvim.wait_screen("  3 (a,\n")
    offer(nvim, "<Esc>22GA(", "1\n2\n3")
    nvim.wait_screen("line 22(1   +2 rows below")
    nvim.keys("<Esc>")
    nvim.wait_screen(lambda screen: "below" not in str(screen))
    nvim.lua("vim.o.wrap = false")
    offer(nvim, "3GA(", "x" * 90)
    nvim.wait_screen("(" + "x" * 60)


NEVER = {
    "read-only": "set readonly",
    "not to be changed": "set nomodifiable",
    "without a file": "enew",
    "no file": "enew | set buftype=nofile | file a.py",
    "a prompt": "enew | set buftype=prompt | file b.py",
    "of another program": "file ftp://host/x",
    "binary": "set binary",
    "huge": "call setline(1, repeat('x', 262145))",
    "off here": "let b:eca_inline = v:false",
}


def test_what_is_never_sent(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, "one")
    for why, command in NEVER.items():
        nvim.command(
            "silent edit! code.txt | set readonly< modifiable binary< | unlet! b:eca_inline"
        )
        nvim.command(f"silent {command}")
        nvim.keys("A")
        nvim.lua("vim.wait(20, function() end)")
        nvim.keys("x<BS>x")
        nvim.lua("vim.wait(20, function() end)")
        nvim.keys("<Esc>")
        assert sent(nvim, "complete_code") == [], why
    nvim.take_errors()
    nvim.command("silent edit! code.txt | unlet! b:eca_inline")
    nvim.keys("qqAx<Esc>q")
    nvim.lua("vim.wait(20, function() end)")
    nvim.keys("@q")
    nvim.lua("vim.wait(20, function() end)")
    assert sent(nvim, "complete_code") == [], "a macro"
    nvim.command("set nobinary readonly")
    nvim.keys("A")
    nvim.keys("<F6>")
    nvim.wait_screen("a read-only buffer is not completed")
    nvim.take_errors()


@pytest.mark.parametrize(
    ("setting", "variable", "asks"),
    [
        ({"inline": False}, "", False),
        (True, "", False),
        (False, "let b:eca_inline = v:true", False),
        ({"inline": False}, "let b:eca_inline = v:true", True),
        ({"inline": {"text": True}}, "", True),
        ({"inline": {"*": True, "text": False}}, "", False),
        ({"inline": {"*": True}}, "", True),
        ({"inline": {"lua": True}}, "", False),
    ],
)
@pytest.mark.either_nvim
def test_where_it_is_on(start_nvim: StartNeovim, setting: Value, variable: str, asks: bool) -> None:
    nvim = start(start_nvim, "one", settings={"completion": setting})
    nvim.command(f"set filetype=text | {variable}")
    nvim.keys("Ax")
    nvim.lua("vim.wait(30, function() end)")
    assert bool(sent(nvim, "complete_code")) is asks
    if setting is not False:
        nvim.keys("<F6>")
        assert wait_sent(nvim, "complete_code", 1 + asks)[-1]["asked"] is True


MENUS = {
    "cmp": "package.loaded['cmp'] = { visible = function() return vim.g.menu == 1 end }",
    "blink": "package.loaded['blink.cmp'] = { is_visible = function() return vim.g.menu == 1 end }",
    "blink of today": "package.loaded['blink.cmp'] = { is_visible = function() return true end, "
    "is_menu_visible = function() return vim.g.menu == 1 end }",
    "broken": "package.loaded['cmp'] = { visible = function() error('x') end }",
}


def test_an_open_menu_gets_the_keys(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, "abc abd", "", init="vim.o.completeopt = 'menuone,noselect'")
    nvim.keys("GAa<C-n>")
    asked = wait_sent(nvim, "complete_code")[-1]
    answer(nvim, asked, text="bx")
    assert offered(nvim) is None, "the menu is open"
    nvim.wait_screen("abx")
    nvim.keys("<C-n>")
    assert text(nvim) == "abc abd\nabc"
    nvim.keys("<C-e><Esc>")
    for name, menu in MENUS.items():
        nvim.lua(menu)
        fill(nvim, "one")
        nvim.command("let g:menu = 1")
        answer(nvim, type_keys(nvim, "Ax"), text="yz")
        is_open = name != "broken"
        nvim.keys("<Tab>")
        assert text(nvim) == ("onex\t" if is_open else "onexyz"), name
        nvim.command("let g:menu = 0")
        offer(nvim, "<Esc>ccx", "yz")
        nvim.keys("<Tab>")
        assert text(nvim) == "xyz"
        nvim.lua("package.loaded['cmp'], package.loaded['blink.cmp'] = nil, nil")


def test_what_is_wrong_is_said_once(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, "one")
    lacks = "eca cannot complete code"
    answer(nvim, type_keys(nvim, "Ax"), fault="git ignores code.txt: it is not sent", about="file")
    nvim.keys("yz<Esc>")
    assert "ignores" not in nvim.lua("return vim.fn.execute('messages')")
    answer(nvim, type_keys(nvim, "Ax"), fault=lacks, about="server")
    nvim.keys("y<Esc>Az<Esc>")
    nvim.wait_screen(f"eca: {lacks}: inline completion is off")
    count = len(sent(nvim, "complete_code"))
    nvim.keys("Aq")
    nvim.lua("vim.wait(20, function() end)")
    assert len(sent(nvim, "complete_code")) == count
    asked = type_keys(nvim, "<F6>")
    answer(nvim, asked, fault=lacks, about="server")
    nvim.wait_screen(f"  {lacks}")
    nvim.keys("q")
    nvim.wait_screen(lambda screen: "cannot complete" not in str(screen))
    nvim.lua("vim.api.nvim_exec_autocmds('User', { pattern = 'EcaServerReady' })")
    answer(nvim, type_keys(nvim, "r"), text="")
    asked = type_keys(nvim, "<F6>")
    answer(nvim, asked, text="")
    nvim.wait_screen("nothing completes this")
    nvim.keys("<Esc>")
    assert nvim.lua("return vim.fn.execute('messages')").count("completion is off") == 1
    nvim.lua("require('eca').complete(99)")
    fill(nvim, "abc")
    assert type_keys(nvim, "0:Eca complete<CR>")["character"] == 1
    nvim.keys("<Esc>")
    assert type_keys(nvim, "$:Eca complete<CR>")["character"] == 4
    nvim.keys("<Esc>:set readonly<CR>:Eca complete<CR>")
    nvim.wait_screen("a read-only buffer is not completed")
    assert nvim.mode == "n"


def test_nothing_is_loaded_for_those_who_do_not_want_it(start_nvim: StartNeovim) -> None:
    init = "vim.g.eca = nil"
    nvim = start_nvim("code.txt", init=init)
    nvim.keys("Axyz<Esc>")
    assert (
        nvim.lua(
            "return vim.tbl_filter(function(name) return vim.startswith(name, 'eca')"
            " end, vim.tbl_keys(package.loaded))"
        )
        == []
    )


def test_what_was_asked_for_and_given_up_sends_no_other_file(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, "one", settings={})
    nvim.lua("require('eca').complete() vim.cmd.stopinsert()")
    nvim.keys(":silent write<CR>:edit other.txt<CR>itheirs")
    nvim.lua("_G.drawn = nil vim.schedule(vim.schedule_wrap(function() _G.drawn = true end))")
    nvim.wait_until("_G.drawn")
    assert sent(nvim, "complete_code") == []
    nvim.keys("<Esc>")
    nvim.lua("require('eca').complete()")
    assert [it["text"] for it in wait_sent(nvim, "complete_code")] == ["theirs\n"]
