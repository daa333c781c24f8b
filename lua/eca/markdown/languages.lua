--- How the code of a fence is highlighted, by its info word: by a tree-sitter parser, whose queries
--- are compiled and applied here, or by a syntax file.
---
--- Rules kept here:
--- - The word is data from the model: it is only looked up. Only the syntax files in the list below
---   are used, because others may do more than highlight.
--- - A whole query takes 10 to 30 ms to compile, in which Neovim would not react to keys. So it is
---   cut between its patterns, which are independent; the order of the parts is the order of the
---   patterns. A part that does not compile (a query for another version of the parser) is left
---   out.
--- - Code is parsed as a string, and no buffer is attached to a parser. Of several captures of one
---   range the last wins, as in Neovim's own highlighter.
local log = require('eca.host.log')

local M = {}

--- Bytes after which a part ends, with the pattern that reaches them.
local PART = 1200

--- Skip a string or a comment, whose brackets do not count.
---@param text string
---@param at integer
---@return integer last byte of what is at that place
local function skip(text, at)
  local character = text:sub(at, at)
  if character == ';' then
    return (text:find('\n', at, true) or #text + 1) - 1
  elseif character == '"' then
    local last = at + 1
    while text:find('^[^"]', last) do
      last = last + (text:sub(last, last) == '\\' and 2 or 1)
    end
    return last
  end
  return at
end

local DEPTHS = { ['('] = 1, ['['] = 1, [')'] = -1, [']'] = -1 }

--- Cut a query between patterns; a pattern begins with a bracket or a quote at the start of a line.
---@param text string
---@return string[]
function M.cut(text)
  local parts, from, depth = {}, 1, 0 ---@type string[], integer, integer
  local at = text:find('[%[%]();"\n]')
  while at do
    depth = depth + (DEPTHS[text:sub(at, at)] or 0)
    if depth == 0 and at - from >= PART and text:find('^\n[%(%["]', at) then
      parts[#parts + 1] = text:sub(from, at)
      from = at + 1
    end
    at = text:find('[%[%]();"\n]', skip(text, at) + 1)
  end
  parts[#parts + 1] = text:sub(from)
  return parts
end

--- File types for other names that models use.
local ALIASES = {
  ['c#'] = 'cs',
  ['c++'] = 'cpp',
  console = 'bash',
  csharp = 'cs',
  docker = 'dockerfile',
  golang = 'go',
  hs = 'haskell',
  javascriptreact = 'javascript',
  js = 'javascript',
  jsx = 'javascript',
  kt = 'kotlin',
  makefile = 'make',
  patch = 'diff',
  powershell = 'ps1',
  py = 'python',
  python3 = 'python',
  rb = 'ruby',
  rs = 'rust',
  shell = 'bash',
  ts = 'typescript',
  tsx = 'typescriptreact',
  viml = 'vim',
  vimscript = 'vim',
  yml = 'yaml',
  zsh = 'bash',
}

--- Syntax files that only highlight. Loading one takes 1 to 14 ms, once.
local SYNTAXES = {}
for name in
  ([[awk bash c clojure cmake cpp cs css dart diff dockerfile elixir erlang go graphql groovy
  haskell html ini java javascript json jsonc julia kotlin less lua make markdown nginx nix objc
  ocaml perl php ps1 python r ruby rust scala scss sh sql swift tcl tex toml typescript
  typescriptreact vim xml yaml zig]]):gmatch('%w+')
do
  SYNTAXES[name] = true
end

---@class eca.markdown.Language
---@field name string of the parser, or of the syntax file
---@field queries? vim.treesitter.Query[] the parts of its query; nil: it has a syntax file
---@field sources? string[] parts that are not compiled yet, last first; nil: it is not cut yet

local languages = {} ---@type table<string, eca.markdown.Language|false> by file type

---@param name string
---@return string? language that has a parser and a highlights query
local function parser_of(name)
  local language = vim.treesitter.language.get_lang(name) or name
  if not language:find('^[%w_]+$') then
    return nil
  end
  local loaded, known = pcall(vim.treesitter.language.add, language)
  -- If the parser was loaded, Neovim 0.10 returns nothing, and later versions return true.
  if not loaded or known == false or (known == nil and vim.fn.has('nvim-0.11') == 1) then
    return nil
  end
  return #vim.treesitter.query.get_files(language, 'highlights') > 0 and language or nil
end

--- How to highlight a fence with this info word; nil if it stays plain.
---@param word string lower case
---@return eca.markdown.Language?
local function find(word)
  local name = ALIASES[word] or word
  if languages[name] == nil then
    local parser = parser_of(name)
    languages[name] = parser and { name = parser, queries = {} }
      or SYNTAXES[name] and { name = name }
      or false
  end
  return languages[name] or nil
end

--- Prepare the highlighting of an info word, one step per call: it is looked up, its query is cut,
--- and each part is compiled.
---@param word string lower case
---@return boolean done
---@return eca.markdown.Language? language nil: it stays plain
function M.prepare(word)
  local is_new = languages[ALIASES[word] or word] == nil
  local language = find(word)
  if is_new or not language or not language.queries then
    return not is_new, language
  elseif not language.sources then
    local texts = {} ---@type string[]
    for index, path in ipairs(vim.treesitter.query.get_files(language.name, 'highlights')) do
      texts[index] = table.concat(vim.fn.readfile(path), '\n')
    end
    language.sources = vim.iter(M.cut(table.concat(texts, '\n'))):rev():totable()
    return false
  end
  local text = table.remove(language.sources)
  if text then
    local worked, query = pcall(vim.treesitter.query.parse, language.name, text)
    if worked then
      table.insert(language.queries, query)
    else
      log.write(('highlights query of %s: %s'):format(language.name, query))
    end
  end
  return #language.sources == 0, language
end

---@class eca.markdown.CodeRegion
---@field row integer
---@field first integer byte
---@field end_row integer
---@field last integer byte, exclusive
---@field group string

--- Captures that are not highlights.
local NO_COLOUR = { spell = true, nospell = true, none = true, conceal = true }

--- Sort outer regions before inner ones: the last one set is visible.
---@param a eca.markdown.CodeRegion
---@param b eca.markdown.CodeRegion
---@return boolean
local function comes_first(a, b)
  if a.row ~= b.row or a.first ~= b.first then
    return a.row < b.row or (a.row == b.row and a.first < b.first)
  end
  return a.end_row > b.end_row or (a.end_row == b.end_row and a.last > b.last)
end

--- Find the highlights of some rows.
---@param language eca.markdown.Language with a parser
---@param lines string[]
---@param from integer first row wanted; the rows before it are context for the parser
---@return eca.markdown.CodeRegion[]
function M.regions(language, lines, from)
  local text = table.concat(lines, '\n')
  local root = vim.treesitter.get_string_parser(text, language.name):parse()[1]:root()
  local regions, places = {}, {} ---@type eca.markdown.CodeRegion[], table<string, integer>
  for _, query in ipairs(language.queries) do
    for id, node in query:iter_captures(root, text, from, #lines) do
      local name, row, first, end_row, last = query.captures[id], node:range()
      if row >= from and name:sub(1, 1) ~= '_' and not NO_COLOUR[name] then
        local group = ('@%s.%s'):format(name, language.name)
        local place = ('%d %d %d %d'):format(row, first, end_row, last)
        places[place] = places[place] or #regions + 1
        regions[places[place]] =
          { row = row, first = first, end_row = end_row, last = last, group = group }
      end
    end
  end
  table.sort(regions, comes_first)
  return regions
end

return M
