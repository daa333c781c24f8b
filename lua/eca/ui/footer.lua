--- The keys of a float, listed in its lower border, where the mouse can click them.
local M = {}

---@class eca.Choice
---@field key string
---@field run fun()
---@field text? string what it does, for the border; nil: the border does not list it
---@field about? string what it does, for the list of keys, default: `text`
---@field label? string name of the key, default: `key`
---@field main? boolean a narrow border shows its text longer than others

---@class eca.FooterKey
---@field [1] string key
---@field [2] string what it does
---@field main? boolean
---@alias eca.Segment [string, string] text and highlight group

--- The keys that the border lists.
---@param choices eca.Choice[]
---@return eca.FooterKey[]
function M.keys(choices)
  local keys = {} ---@type eca.FooterKey[]
  for _, choice in ipairs(choices) do
    local label = choice.label or choice.key
    keys[#keys + 1] = choice.text and { label, choice.text, main = choice.main }
  end
  return keys
end

--- The width of a footer in cells.
---@param segments eca.Segment[]
---@return integer
function M.width(segments)
  local width = 0
  for _, segment in ipairs(segments) do
    width = width + vim.api.nvim_strwidth(segment[1])
  end
  return width
end

--- The keys with what they do. If one cell is missing, the blank before them is dropped. If more
--- are missing, texts are dropped, the last first and those of the main keys at the end.
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
      local same = (keys[index].main or false) == main
      if same and room and M.width(footer) > room then
        footer[2 * index][1] = ''
      end
    end
  end
  return footer
end

--- The 1-based number of the key under the mouse in a window's lower border.
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

--- The choice whose key is under the mouse; nil for a label that stands for several keys.
---@param win integer
---@param choices eca.Choice[]
---@return eca.Choice?
function M.pressed(win, choices)
  local listed = vim.tbl_filter(function(choice)
    return choice.text ~= nil
  end, choices)
  local choice = listed[under_mouse(win)]
  return choice and not choice.label and choice or nil
end

return M
