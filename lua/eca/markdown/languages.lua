--- What colours code: for a fence's info word, a tree-sitter parser or one of Vim's syntax files.
---
--- Rules kept here:
--- - The word is the model's: it is looked up, and names a syntax file only when it is in the list
---   below, for some of the files in that folder do things of their own.
local queries = require('eca.markdown.queries')

local M = {}

--- Names models write for languages whose file type is called differently.
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

--- Syntax files that only colour. Each takes 1 to 14 ms to load, once.
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
---@return string? language that has a parser and highlights
local function parser_of(name)
  local language = vim.treesitter.language.get_lang(name) or name
  if not language:find('^[%w_]+$') then
    return nil
  end
  local loaded, known = pcall(vim.treesitter.language.add, language)
  -- Neovim 0.10 answers nothing when the parser loaded, later ones answer true.
  if not loaded or known == false or (known == nil and vim.fn.has('nvim-0.11') == 1) then
    return nil
  end
  return queries.exist(language) and language or nil
end

---@type table<string, eca.markdown.Language|false>
local found = {}
local ready = {} ---@type table<string, true>

--- Prepare to colour a fence of this info word, a step at a time: the first finds what colours it.
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

--- What colours a fence of this info word; nil when nothing does.
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
