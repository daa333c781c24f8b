--- Chooses and cuts the parts of a winbar that fit into its window.
---
--- Rules kept here:
--- - Minor parts are dropped first. Then parts are cut, the lightest first, each down to its least
---   cells. Only then other parts are dropped, again the lightest first.
--- - A part with `keep` is never dropped. It is cut below its least cells before a heavier part is
---   dropped, or one that can be cut.
local display_width = require('eca.ui.display_width')

local cut = display_width.cut

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

---@param text string
---@return integer
local function cells(text)
  return vim.api.nvim_strwidth(text)
end

--- A part and its measures.
---@class eca.MeasuredPart
---@field part eca.WinbarPart
---@field place integer
---@field width integer cells, with its separator
---@field slack integer cells by which it can be cut
---@field reserve integer cells by which it can be cut for heavier parts

---@param part eca.WinbarPart
---@param place integer
---@return eca.MeasuredPart
local function measure(part, place)
  local width = cells(part.text)
  local before = place > 1 and cells(part.separator or M.SEPARATOR) or 0
  local slack = part.least and math.max(0, width - part.least) or 0
  local reserve = part.keep and math.max(0, width - slack - part.keep) or 0
  return { part = part, place = place, width = width + before, slack = slack, reserve = reserve }
end

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

---@param measured eca.MeasuredPart[] lighter first
---@param over integer cells too many
local function cut_parts(measured, over)
  for _, it in ipairs(measured) do
    local less = math.min(over, it.slack)
    if less > 0 then
      local shorten = it.part.end_first and display_width.pad_path or cut
      it.part.text = shorten(it.part.text, cells(it.part.text) - less)
      over = over - less
    end
  end
end

---@param measured eca.MeasuredPart[]
---@param key 'width'|'slack'|'reserve'
---@return integer
local function sum(measured, key)
  return vim.iter(measured):fold(0, function(total, it)
    return total + it[key]
  end)
end

--- The parts that are not dropped, and how many cells there are still too many.
---@param measured eca.MeasuredPart[] lighter first
---@param over integer
---@return eca.MeasuredPart[] stay lighter first
---@return integer over
local function drop(measured, over)
  local stay, slack = {}, sum(measured, 'slack') ---@type eca.MeasuredPart[], integer
  local reserve = sum(measured, 'reserve')
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
  return stay, over
end

--- Make parts fit; their order stays.
---@param parts eca.WinbarPart[] their texts may be cut
---@param width integer cells
---@return eca.WinbarPart[]
function M.fit(parts, width)
  local measured = {} ---@type eca.MeasuredPart[]
  for place, part in ipairs(parts) do
    measured[place] = measure(part, place)
  end
  local over = 1 + sum(measured, 'width') - width
  if over <= 0 then
    return parts
  end
  table.sort(measured, is_lighter)
  local stay, left = drop(measured, over)
  stay = #stay > 0 and stay or { measured[#measured] }
  if #stay == 1 then
    local part = stay[1].part
    part.text = cut(part.text, math.max(1, width - 1))
    return { part }
  end
  cut_parts(stay, left)
  table.sort(stay, function(a, b)
    return a.place < b.place
  end)
  return vim.tbl_map(function(it)
    return it.part
  end, stay)
end

return M
