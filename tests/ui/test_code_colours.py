"""A query that is compiled in parts gives the same colours as the whole."""

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.staged import CHAT, WITHOUT_HOST, chat_text, draw

CODE = {
    "c": '#include <a.h>\nint main(void) {\n  printf("a\\n%d", 1); // why\n  return f->x;\n}\n',
    "lua": "local function f(a, ...)\n  return a.b('x\\n'), #{ 1 }, nil -- why\nend\n",
    "vim": "function! s:f(a) abort\n  let g:x = 'y' .. a:a\n  echo 1\nendfunction\n",
    "query": '((a) @b (#eq? @b "c"))\n["x" "y"] @z ; why\n',
}

COLOUR = """
local language, text = ...
local languages = require('eca.markdown.languages')
local lines = vim.split(text, '\\n')
local function set(known)
  local found = {}
  for _, region in ipairs(languages.regions(known, lines, 0)) do
    found[#found + 1] = ('%d %d %d %d %s'):format(
      region.row, region.first, region.end_row, region.last, region.group)
  end
  return found
end
while not languages.prepare(language) do end
local _, parts = languages.prepare(language)
local query = vim.treesitter.query.get(language, 'highlights')
return { set(parts), set({ name = language, queries = { query } }) }
"""

CUT = """
local language = ...
local texts = {}
for _, path in ipairs(vim.treesitter.query.get_files(language, 'highlights')) do
  texts[#texts + 1] = table.concat(vim.fn.readfile(path), '\\n')
end
local text = table.concat(texts, '\\n')
local parts = require('eca.markdown.languages').cut(text)
for _, part in ipairs(parts) do
  vim.treesitter.query.parse(language, part)
end
return { table.concat(parts) == text, #parts }
"""

HOLD_COLOURS = """
_G.held = {}
local defer = vim.defer_fn
vim.defer_fn = function(run, ...)
  local from = debug.getinfo(2, 'S').source
  if from:find('colours', 1, true) then
    table.insert(_G.held, run)
  else
    return defer(run, ...)
  end
end
"""
COLOURS = """
local buf = require('eca.chat.buffers').get(...).buf
local namespace = require('eca.markdown.colours').namespace
return vim.api.nvim_buf_get_extmarks(buf, namespace, 0, -1, {})
"""


@pytest.mark.parametrize("language", CODE)
def test_parts_colour_as_the_whole(nvim: Neovim, language: str) -> None:
    in_parts, whole = nvim.lua(COLOUR, language, CODE[language])
    assert in_parts == whole
    assert len(in_parts) > 5


@pytest.mark.parametrize("language", CODE)
def test_every_part_is_a_query_and_nothing_is_lost(nvim: Neovim, language: str) -> None:
    same, parts = nvim.lua(f"vim.treesitter.language.add('{language}'){CUT}", language)
    assert same
    assert parts > 1 or language == "query"


def test_brackets_in_strings_and_comments_cut_nothing(nvim: Neovim) -> None:
    pattern = '("\\"(" @a ; (\n (b "[") @c)\n'
    text = pattern * 100
    parts = nvim.lua("return require('eca.markdown.languages').cut(...)", text)
    assert "".join(parts) == text
    assert len(parts) > 1
    assert all(part.count(";") * len(pattern) == len(part) for part in parts)


def test_code_that_was_cleared_colours_nothing_of_what_is_drawn_then(
    start_nvim: StartNeovim,
) -> None:
    """Its extmark has the number of another block by then."""
    nvim = start_nvim(init=WITHOUT_HOST, columns=80)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.lua(HOLD_COLOURS)
    code = "```lua\nlocal a = 'x'\nlocal b = 'y'\n```\n"
    draw(nvim, *chat_text(code))
    nvim.wait_until("#_G.held > 0")
    prose = "local prose is\nlocal to nobody\nlocal at all\n"
    draw(nvim, ["clear", CHAT], *chat_text(prose))
    nvim.wait_screen("to nobody")
    nvim.lua("while #_G.held > 0 do table.remove(_G.held)() end")
    assert nvim.lua(COLOURS, CHAT) == []
    draw(nvim, ["clear", CHAT], *chat_text(code))
    nvim.wait_until("#_G.held > 0")
    nvim.lua("while #_G.held > 0 do table.remove(_G.held)() end")
    assert nvim.lua(COLOURS, CHAT) != []
