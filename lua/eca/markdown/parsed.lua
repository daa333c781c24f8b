--- Colours of code by its tree-sitter parser.
---
--- Rules kept here: code is parsed as a string; a buffer is never attached to a parser. Of several
--- captures of one range the last wins, as in Neovim's own highlighter.
local M = {}

---@class eca.markdown.CodeRegion
---@field row integer
---@field first integer byte
---@field end_row integer
---@field last integer byte, exclusive
---@field group string

--- Captures that say something else than a colour.
local NO_COLOUR = { spell = true, nospell = true, none = true, conceal = true }

--- Find the colours of some rows.
---@param language string
---@param lines string[]
---@param from integer first row wanted; the rows before it help to parse
---@return eca.markdown.CodeRegion[]
function M.regions(language, lines, from)
  local text = table.concat(lines, '\n')
  local root = vim.treesitter.get_string_parser(text, language):parse()[1]:root()
  local query = assert(vim.treesitter.query.get(language, 'highlights'))
  local regions, places = {}, {} ---@type eca.markdown.CodeRegion[], table<string, integer>
  for id, node in query:iter_captures(root, text, from, #lines) do
    local name = query.captures[id]
    local row, first, end_row, last = node:range()
    if row >= from and name:sub(1, 1) ~= '_' and not NO_COLOUR[name] then
      local place = ('%d %d %d %d'):format(row, first, end_row, last)
      places[place] = places[place] or #regions + 1
      local group = ('@%s.%s'):format(name, language)
      regions[places[place]] =
        { row = row, first = first, end_row = end_row, last = last, group = group }
    end
  end
  return regions
end

return M
