"""Fenced code on the screen gets its colours when Neovim is idle."""

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Screen
from tests.ui.staged import CHAT, WITHOUT_HOST, chat_text, draw

LUA = "local function add(a, b) -- comment\n  return 'text' .. a\nend"
PYTHON = 'def add(a, b):  # comment\n    """Doc."""\n    return "text" + str(a)'
MARKS = """
local buf = require('eca.chat.buffers').ensure('c1').buf
local space = require('eca.markdown.colours').namespace
local rows = {}
for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, space, 0, -1, { details = true })) do
  local there = mark[4].end_row > mark[2] or mark[4].end_col > mark[3]
  rows[mark[2]] = there or nil
end
return vim.tbl_count(rows), vim.fn.line('$', vim.fn.bufwinid(buf))
"""


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    """Neovim with the chat open and nothing else, the cursor in the transcript."""
    nvim = start_nvim(init=WITHOUT_HOST, settings={"layout": "current"}, lines=30)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.command("wincmd k")
    return nvim


def wait_group(nvim: Neovim, text: str, group: str) -> Screen:
    """Wait until a text on the screen is coloured by a group."""
    return nvim.wait_screen(
        lambda screen: text in screen and group in screen.groups_at(*screen.find(text))
    )


def errors(nvim: Neovim) -> object:
    return nvim.lua("return require('eca.host').logged")


def test_lua_by_its_parser(stage: Neovim) -> None:
    draw(stage, *chat_text(f"so:\n```lua\n{LUA}\n```\nlocal x -- prose"))
    screen = wait_group(stage, "local function", "Statement")
    assert "Function" in screen.groups_at(*screen.find("add(a"))
    assert "Comment" in screen.groups_at(*screen.find("-- comment"))
    assert "String" in screen.groups_at(*screen.find("'text'"))
    assert "Statement" not in screen.groups_at(*screen.find("local x"))
    assert errors(stage) == {} or errors(stage) == []


def test_python_without_a_parser_by_its_syntax_file(stage: Neovim) -> None:
    before = stage.lua("return #vim.api.nvim_list_bufs()")
    stage.command("let g:types = [] | autocmd FileType * call add(g:types, expand('<amatch>'))")
    draw(stage, *chat_text(f"```python\n{PYTHON}\n```"))
    screen = wait_group(stage, "def add", "Statement")
    assert "Function" in screen.groups_at(*screen.find("add(a"))
    assert "Comment" in screen.groups_at(*screen.find("# comment"))
    assert "String" in screen.groups_at(*screen.find('"text"'))
    assert stage.eval("g:types") == []
    assert stage.lua("return #vim.api.nvim_list_bufs()") <= before + 1
    assert stage.eval("len(getbufinfo({'buflisted': 1}))") <= 1


LANGUAGES = [
    ("py", "def x(): pass", "def", "Statement"),
    ("Python", "def x(): pass", "def", "Statement"),
    ("js", "const x = 'a'", "'a'", "String"),
    ("ts", "let x: string", "string", "Type"),
    ("yml", "key: value", "key", "Identifier"),
    ("sh", "if true; then x; fi", "if", "Statement"),
    ("c++", "class x {};", "class", "Type"),
    ("rs", "fn main() {}", "fn", "Statement"),
    ("diff", "+added line", "+added", "Added"),
    ("vim", "let x = 1", "let", "Statement"),
    ("c", "return 1;", "return", "Statement"),
    ('lua title="x.lua"', "local x = 1", "local", "Statement"),
    ("lua|let g:owned=1", "local x = 1", "local", "Statement"),
]


def test_names_of_languages(stage: Neovim) -> None:
    for number, (word, code, shown, group) in enumerate(LANGUAGES):
        draw(stage, ["clear", CHAT], *chat_text(f"language {number}\n```{word}\n{code}\n```"))
        stage.wait_screen(f"language {number}")
        wait_group(stage, shown, group)
    assert stage.eval("exists('g:owned')") == 0


@pytest.mark.either_nvim
@pytest.mark.parametrize(
    "word",
    [
        "2html",
        "hitest",
        "nosyntax",
        "unknownlanguage",
        "../lua",
        "on",
        "query",
    ],
)
def test_other_words_run_nothing(stage: Neovim, word: str) -> None:
    """What is last on the screen has had its turn when the colours of what is first are there."""
    draw(stage, *chat_text(f"```lua\nlocal y = 1\n```\n\n```{word}\nlocal x = 1\n```"))
    screen = wait_group(stage, "local y", "Statement")
    assert "Statement" not in screen.groups_at(*screen.find("local x"))
    assert stage.eval("exists('g:owned')") == 0
    assert stage.eval("winnr('$')") == 2


def test_rows_are_coloured_while_more_is_streamed(stage: Neovim) -> None:
    code = "\n".join(f"local x{number} = {number}" for number in range(60))
    draw(stage, *chat_text(f"```lua\n{code}\n", close=False))
    stage.wait_screen("x59")
    stage.keys("gg")
    wait_group(stage, "local x1 ", "Statement")
    draw(stage, ["append", CHAT, 1, "\nlocal last = 1\n```\nend"])
    stage.wait_until("vim.fn.line('$') >= 64")
    stage.keys("G")
    wait_group(stage, "local last", "Statement")


def test_only_what_is_seen_of_a_long_fence_is_coloured(stage: Neovim) -> None:
    code = "\n".join(f"local x{number} = 'text {number}'" for number in range(2000))
    draw(stage, *chat_text(f"```lua\n{code}\n```"))
    stage.wait_screen("local x1999")
    stage.keys("gg")
    wait_group(stage, "local x1 ", "Statement")
    rows, total = stage.lua(f"local f = function() {MARKS} end return {{ f() }}")
    assert total == 2002
    assert rows <= 120
    stage.keys("1000Gzt")
    wait_group(stage, "local x1000 ", "Statement")
    assert stage.lua(f"local f = function() {MARKS} end return f()") <= 240


def test_pieces_know_what_stands_before_them(stage: Neovim) -> None:
    code = (
        "return {\n"
        + "\n".join(f"  key{number} = function() return {number} end," for number in range(90))
        + "\n}"
    )
    draw(stage, *chat_text(f"```lua\n{code}\n```"))
    stage.wait_screen("key89")
    stage.keys("60Gzt")
    wait_group(stage, "function() return 60 ", "Statement")


def test_colours_move_with_their_text_and_go_with_it(stage: Neovim) -> None:
    draw(
        stage,
        ["open", CHAT, 1, "reasoning", [["thought", ""]], 0, None],
        *chat_text(f"```lua\n{LUA}\n```", 2),
    )
    wait_group(stage, "local function", "Statement")
    draw(stage, ["body", CHAT, 1, ["a", "b", "c"], [], None])
    stage.wait_screen("│ c")
    wait_group(stage, "local function", "Statement")
    draw(stage, ["remove", CHAT, 2])
    stage.wait_screen(lambda screen: "local function" not in screen)
    assert stage.lua(f"local f = function() {MARKS} end return f()") == 0


def test_a_language_that_fails_is_logged_and_the_next_goes_on(stage: Neovim) -> None:
    stage.lua("package.loaded['eca.markdown.syntaxed'] = { regions = function() error('oh') end }")
    draw(stage, *chat_text(f"```lua\n{LUA}\n```\n\n```python\n{PYTHON}\n```"))
    wait_group(stage, "local function", "Statement")
    (line,) = stage.wait_until("#require('eca.host').logged > 0 and require('eca.host').logged")
    assert "highlighting python failed" in line
    assert "oh" in line
