--- Which parts of a winbar fit into its window.
---
--- Rules kept here:
--- - Minor parts go first. Then parts are cut, the lightest first, each down to the cells that
---   still say something. Only then a part goes, again the lightest.
--- - A part with `keep` never goes.
local cut = require('eca.cells').cut

local M = {}

---@class eca.WinbarPart
---@field text string
---@field group string
---@field weight integer the higher, the longer it stays
---@field least? integer cells it may be cut to; nil when it means nothing unless it is whole
---@field keep? boolean
---@field join? string what stands between it and the part before, instead of a dot
---@field click? integer number of the chat that a click goes to

M.SEPARATOR = ' · '

--- Parts of this weight and less go before any other part is cut.
M.MINOR = 10

---@param text string
---@return integer
local function cells(text)
  return vim.fn.strdisplaywidth(text)
end

---@param parts eca.WinbarPart[]
---@return integer cells
local function width_of(parts)
  local width = 1
  for index, part in ipairs(parts) do
    width = width + cells(part.text) + (index > 1 and cells(part.join or M.SEPARATOR) or 0)
  end
  return width
end

--- Cells by which a part can be cut.
---@param part eca.WinbarPart
---@return integer
local function slack(part)
  return part.least and math.max(0, cells(part.text) - part.least) or 0
end

---@param parts eca.WinbarPart[]
---@return integer
local function total_slack(parts)
  return vim.iter(parts):fold(0, function(sum, part)
    return sum + slack(part)
  end)
end

--- The lightest of those that may go; of equals the last.
---@param parts eca.WinbarPart[]
---@return integer? index
local function lightest(parts)
  local found ---@type integer?
  for index, part in ipairs(parts) do
    if not part.keep and (not found or part.weight <= parts[found].weight) then
      found = index
    end
  end
  return found
end

---@param parts eca.WinbarPart[]
---@param over integer cells there are too many
local function cut_parts(parts, over)
  local order = vim.list_extend({}, parts)
  table.sort(order, function(a, b)
    return a.weight < b.weight
  end)
  for _, part in ipairs(order) do
    local less = math.min(over, slack(part))
    if less > 0 then
      part.text = cut(part.text, cells(part.text) - less)
      over = over - less
    end
  end
end

--- Make parts fit, in their order.
---@param parts eca.WinbarPart[] changed
---@param width integer cells
---@return eca.WinbarPart[] parts
function M.fit(parts, width)
  while true do
    local over = width_of(parts) - width
    local index = lightest(parts)
    local minor = index and parts[index].weight <= M.MINOR
    if over <= 0 then
      return parts
    elseif not index or #parts == 1 then
      parts[1].text = cut(parts[1].text, math.max(1, cells(parts[1].text) - over))
      return parts
    elseif not minor and over <= total_slack(parts) then
      cut_parts(parts, over)
      return parts
    end
    table.remove(parts, index)
  end
end

return M
