--- The keys of a float, told in its lower border.
local M = {}

---@class eca.Choice
---@field key string
---@field run fun()
---@field text? string what it does, told in the border; nil: told elsewhere
---@field about? string the same, told in the list of keys, default: `text`
---@field told? string how the border names the key, default: `key`

---@alias eca.FooterKey [string, string] key and what it does
---@alias eca.Segment [string, string] text and highlight group

--- The keys of some choices that are told in the border.
---@param choices eca.Choice[]
---@return eca.FooterKey[]
function M.keys(choices)
  local keys = {} ---@type eca.FooterKey[]
  for _, choice in ipairs(choices) do
    keys[#keys + 1] = choice.text and { choice.told or choice.key, choice.text }
  end
  return keys
end

--- Cells that a footer takes.
---@param segments eca.Segment[]
---@return integer
function M.width(segments)
  local width = 0
  for _, segment in ipairs(segments) do
    width = width + vim.fn.strdisplaywidth(segment[1])
  end
  return width
end

--- The keys with what they do. Where one cell is missing the blank before them goes; where more
--- are, the last ones stand alone.
---@param keys eca.FooterKey[]
---@param room? integer cells
---@return eca.Segment[]
function M.of(keys, room)
  local footer = {} ---@type eca.Segment[]
  for _, key in ipairs(keys) do
    footer[#footer + 1] = { (#footer > 0 and '  ' or ' ') .. key[1], 'EcaKey' }
    footer[#footer + 1] = { ' ' .. key[2], 'EcaMuted' }
  end
  if room and footer[1] and M.width(footer) == room + 1 then
    footer[1][1] = keys[1][1]
  end
  for index = #footer, 2, -2 do
    if room and M.width(footer) > room then
      footer[index][1] = ''
    end
  end
  return footer
end

return M
