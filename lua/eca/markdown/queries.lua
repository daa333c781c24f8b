--- Compiles highlight queries in parts, because a whole one takes 10 to 30 ms, in which Neovim
--- would not react to keys.
---
--- Rules kept here:
--- - A query is cut between its patterns, which are independent. The order of the parts is the
---   order of the patterns.
--- - A part that does not compile (a query for another version of the parser) is left out.
local host = require('eca.host')

local M = {}

--- Bytes after which a part ends, with the pattern that reaches them.
local PART = 1200

---@class eca.markdown.Parts
---@field sources string[] parts not compiled yet, last first
---@field queries vim.treesitter.Query[]

local known = {} ---@type table<string, eca.markdown.Parts> by language

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

---@param language string
---@return string
local function source(language)
  local texts = {} ---@type string[]
  for index, path in ipairs(vim.treesitter.query.get_files(language, 'highlights')) do
    texts[index] = table.concat(vim.fn.readfile(path), '\n')
  end
  return table.concat(texts, '\n')
end

--- Is there a highlights query for a language?
---@param language string
---@return boolean
function M.exist(language)
  return #vim.treesitter.query.get_files(language, 'highlights') > 0
end

--- Compile the next part.
---@param language string
---@return boolean complete
function M.compile(language)
  local parts = known[language]
  if not parts then
    parts = { sources = {}, queries = {} }
    for _, text in ipairs(M.cut(source(language))) do
      table.insert(parts.sources, 1, text)
    end
    known[language] = parts
    return false
  end
  local text = table.remove(parts.sources)
  local worked, query = pcall(vim.treesitter.query.parse, language, text or '')
  if not worked then
    host.log(('highlights query of %s: %s'):format(language, query))
  elseif text then
    parts.queries[#parts.queries + 1] = query
  end
  return #parts.sources == 0
end

--- All parts of a language's query.
---@param language string
---@return vim.treesitter.Query[]
function M.of(language)
  while not (known[language] and #known[language].sources == 0) do
    M.compile(language)
  end
  return known[language].queries
end

return M
