--- A float that lists keys and what each of them does.
local panel = require('eca.ui.panel')

local M = {}

---@alias eca.KeyRow [string, string] keys, and what they do

---@param rows eca.KeyRow[]
---@return integer bytes of the widest keys
function M.widest(rows)
  local widest = 0
  for _, row in ipairs(rows) do
    widest = math.max(widest, #row[1])
  end
  return widest
end

--- Append rows; the texts begin in the same column.
---@param rows eca.KeyRow[]
---@param columns integer bytes of the widest keys
---@param lines string[]
---@param marks eca.Mark[]
function M.write(rows, columns, lines, marks)
  for _, row in ipairs(rows) do
    marks[#marks + 1] = { #lines, 2, 2 + #row[1], 'EcaKey' }
    lines[#lines + 1] = ('  %s%s %s'):format(row[1], (' '):rep(columns - #row[1]), row[2])
  end
end

--- Show a list; `q`, `<Esc>`, `g?` or leaving the window closes it.
---@param lines string[]
---@param marks eca.Mark[]
---@param origin? eca.Origin where closing it returns to, default: where the user is
function M.show(lines, marks, origin)
  panel.show({ title = 'keys', lines = lines, marks = marks, key = 'g?', origin = origin })
end

--- Show the keys of a float; closing the list returns to the float.
---@param choices eca.Choice[]
---@param origin eca.Origin
function M.show_choices(choices, origin)
  local lines, marks, rows = {}, {}, {} ---@type string[], eca.Mark[], eca.KeyRow[]
  for _, choice in ipairs(choices) do
    local text = choice.about or choice.text
    rows[#rows + 1] = text and { choice.label or choice.key, text }
  end
  M.write(rows, M.widest(rows), lines, marks)
  M.show(lines, marks, origin)
end

return M
