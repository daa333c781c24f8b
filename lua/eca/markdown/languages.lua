--- Finds how to highlight the code of a fence by its info word: a tree-sitter parser or a syntax
--- file.
---
--- Rules kept here:
--- - The word is data from the model: it is only looked up. Only the syntax files in the list below
---   are used, because others may do more than highlight.
local queries = require('eca.markdown.queries')

local M = {}

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
---@field name string
---@field parsed boolean by tree-sitter; else by a syntax file

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
  return queries.exist(language) and language or nil
end

---@type table<string, eca.markdown.Language|false>
local found = {}
local ready = {} ---@type table<string, true>

--- Prepare the highlighting of an info word, one step per call.
---@param word string lower case
---@return boolean done
function M.prepare(word)
  if ready[word] then
    return true
  elseif found[word] == nil then
    M.find(word)
  elseif not found[word] or not found[word].parsed or queries.compile(found[word].name) then
    ready[word] = true
  end
  return false
end

--- How to highlight a fence with this info word; nil if it stays plain.
---@param word string lower case
---@return eca.markdown.Language?
function M.find(word)
  if found[word] == nil then
    local name = ALIASES[word] or word
    local parser = parser_of(name)
    local syntax = not parser and SYNTAXES[name]
    found[word] = (parser and { name = parser, parsed = true })
      or (syntax and { name = name, parsed = false })
      or false
  end
  return found[word] or nil
end

return M
