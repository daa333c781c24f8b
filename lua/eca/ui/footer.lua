--- The keys of a float, told in its lower border, where the mouse can press them.
local M = {}

---@class eca.Choice
---@field key string
---@field run fun()
---@field text? string what it does, told in the border; nil: told elsewhere
---@field about? string the same, told in the list of keys, default: `text`
---@field told? string how the border names the key, default: `key`
---@field main? boolean what it does is told in a narrow border, too

---@class eca.FooterKey
---@field [1] string key
---@field [2] string what it does
---@field main? boolean
---@alias eca.Segment [string, string] text and highlight group

--- The keys of some choices that are told in the border.
---@param choices eca.Choice[]
---@return eca.FooterKey[]
function M.keys(choices)
  local keys = {} ---@type eca.FooterKey[]
  for _, choice in ipairs(choices) do
    local told = choice.told or choice.key
    keys[#keys + 1] = choice.text and { told, choice.text, main = choice.main }
  end
  return keys
end

--- Cells that a footer takes.
---@param segments eca.Segment[]
---@return integer
function M.width(segments)
  local width = 0
  for _, segment in ipairs(segments) do
    width = width + vim.api.nvim_strwidth(segment[1])
  end
  return width
end

--- The keys with what they do. Where one cell is missing the blank before them goes; where more
--- are, the last ones stand alone, and the main ones only when all others do.
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
  for _, main in ipairs({ false, true }) do
    for index = #keys, 1, -1 do
      local goes = (keys[index].main or false) == main
      if goes and room and M.width(footer) > room then
        footer[2 * index][1] = ''
      end
    end
  end
  return footer
end

--- Which of the keys in a window's lower border is under the mouse, counted from 1?
---@param win integer
---@return integer?
local function under_mouse(win)
  local mouse, config = vim.fn.getmousepos(), vim.api.nvim_win_get_config(win)
  if mouse.winid ~= win or mouse.winrow ~= config.height + 2 then
    return nil
  end
  local column = 1
  for index, segment in ipairs(config.footer or {}) do
    local first = column
    column = column + vim.api.nvim_strwidth(segment[1])
    if first < mouse.wincol and mouse.wincol <= column then
      return math.ceil(index / 2)
    end
  end
end

--- The choice whose key is under the mouse. A key that stands for several chooses none.
---@param win integer
---@param choices eca.Choice[] that its border tells of
---@return eca.Choice?
function M.pressed(win, choices)
  local told = vim.tbl_filter(function(choice)
    return choice.text ~= nil
  end, choices)
  local choice = told[under_mouse(win)]
  return choice and not choice.told and choice or nil
end

return M
