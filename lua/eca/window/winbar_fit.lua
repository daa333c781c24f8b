--- Chooses and cuts the parts of a winbar that fit into its window.
---
--- Rules kept here:
--- - Minor parts are dropped first. Then parts are cut, the lightest first, each down to its least
---   cells. Only then other parts are dropped, again the lightest first.
--- - A part with `keep` is never dropped. It is cut below its least cells before a heavier part is
---   dropped, or one that can be cut.
local display_width = require('eca.ui.display_width')

local M = {}

---@class eca.WinbarPart
---@field text string
---@field group string
---@field weight integer the higher, the later it is dropped
---@field least? integer cells it may be cut to; nil: it is never cut
---@field keep? integer cells it is cut to before a heavier part is dropped; nil: it is dropped
---@field separator? string between it and the part before, default: a dot
---@field end_first? boolean its beginning is cut, not its end
---@field right? boolean it and those after it stand at the right end
---@field click? integer number of the chat that a click opens

M.SEPARATOR = ' · '

--- Parts of this weight and less are dropped before any other part is cut.
M.MINOR = 10

--- A part and its measures.
---@class eca.MeasuredPart
---@field part eca.WinbarPart
---@field place integer
---@field cells integer
---@field width integer cells, with its separator
---@field slack integer cells by which it can be cut
---@field reserve integer cells by which it can be cut for heavier parts

--- Sort lighter parts first; of equal ones the last first.
---@param a eca.MeasuredPart
---@param b eca.MeasuredPart
---@return boolean
local function is_lighter(a, b)
  if a.part.weight ~= b.part.weight then
    return a.part.weight < b.part.weight
  end
  return a.place > b.place
end

--- Make parts fit; their order stays.
---@param parts eca.WinbarPart[] their texts may be cut
---@param width integer cells
---@return eca.WinbarPart[]
function M.fit(parts, width)
  local measured, stay = {}, {} ---@type eca.MeasuredPart[], eca.MeasuredPart[]
  local over, slack, reserve = 1 - width, 0, 0 -- in cells, of all parts that stay
  for place, part in ipairs(parts) do
    local it = { part = part, place = place, cells = vim.api.nvim_strwidth(part.text) }
    local before = place > 1 and vim.api.nvim_strwidth(part.separator or M.SEPARATOR) or 0
    it.width = it.cells + before
    it.slack = part.least and math.max(0, it.cells - part.least) or 0
    it.reserve = part.keep and math.max(0, it.cells - it.slack - part.keep) or 0
    measured[place] = it
    over, slack, reserve = over + it.width, slack + it.slack, reserve + it.reserve
  end
  if over <= 0 then
    return parts
  end
  table.sort(measured, is_lighter)
  for _, it in ipairs(measured) do
    local minor = it.part.weight <= M.MINOR
    local room = slack + (it.part.least and reserve or 0)
    if over > 0 and not it.part.keep and (minor or over > room) then
      over, slack = over - it.width, slack - it.slack
    else
      stay[#stay + 1] = it
      if over > slack then
        it.slack, slack = it.slack + it.reserve, slack + it.reserve
      end
    end
  end
  if #stay <= 1 then
    local part = (stay[1] or measured[#measured]).part
    part.text = display_width.cut(part.text, math.max(1, width - 1))
    return { part }
  end
  for _, it in ipairs(stay) do
    local less = math.min(over, it.slack)
    if less > 0 then
      local shorten = it.part.end_first and display_width.pad_path or display_width.cut
      it.part.text = shorten(it.part.text, it.cells - less)
      over = over - less
    end
  end
  table.sort(stay, function(a, b)
    return a.place < b.place
  end)
  return vim.tbl_map(function(it)
    return it.part
  end, stay)
end

return M
