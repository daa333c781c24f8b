--- Highlights code by its tree-sitter parser.
---
--- Rules kept here: code is parsed as a string, and no buffer is attached to a parser. Of several
--- captures of one range the last wins, as in Neovim's own highlighter.
local queries = require('eca.markdown.queries')

local M = {}

---@class eca.markdown.CodeRegion
---@field row integer
---@field first integer byte
---@field end_row integer
---@field last integer byte, exclusive
---@field group string

--- Captures that are not highlights.
local NO_COLOUR = { spell = true, nospell = true, none = true, conceal = true }

---@param name string of a capture
---@param language string
---@return string? group
local function group_of(name, language)
  if name:sub(1, 1) ~= '_' and not NO_COLOUR[name] then
    return ('@%s.%s'):format(name, language)
  end
end

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
---@param language string
---@param lines string[]
---@param from integer first row wanted; the rows before it are context for the parser
---@return eca.markdown.CodeRegion[]
function M.regions(language, lines, from)
  local text = table.concat(lines, '\n')
  local root = vim.treesitter.get_string_parser(text, language):parse()[1]:root()
  local regions, places = {}, {} ---@type eca.markdown.CodeRegion[], table<string, integer>
  for _, query in ipairs(queries.of(language)) do
    for id, node in query:iter_captures(root, text, from, #lines) do
      local group = group_of(query.captures[id], language)
      local row, first, end_row, last = node:range()
      if group and row >= from then
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
