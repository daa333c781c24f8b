--- The keys of a float, listed in its lower border, where the mouse can click them.
local M = {}

---@class eca.Choice
---@field key string
---@field run fun(row?: integer) `row`: of the cursor in the float (0-based)
---@field text? string what it does, for the border; nil: the border does not list it
---@field about? string what it does, for the list of keys, default: `text`
---@field mouse? string what does the same, on what it is about
---@field label? string name of the key, default: `key`
---@field main? true|'later' a narrow border shows its text longer than others

---@class eca.FooterKey
---@field [1] string key
---@field [2] string what it does
---@field main? true|'later'
---@alias eca.Segment [string, string] text and highlight group

--- The key of a float that lists all keys.
M.LISTED = { 'g?', 'keys', main = true } ---@type eca.FooterKey

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

--- The keys with what they do, as far as there is room: main keys first, `later` ones after them.
---@param keys eca.FooterKey[]
---@param room number cells
---@param alone boolean keys without room for their text stand alone; else only main ones do
---@return eca.Segment[] two a key; those of one that is left out are empty
local function filled(keys, room, alone)
  local footer = {} ---@type eca.Segment[]
  ---@param place integer
  ---@param text string
  local function put(place, text)
    footer[place][1] = text
    room = room - vim.api.nvim_strwidth(text)
  end
  ---@param index integer
  local function put_key(index)
    put(2 * index - 1, (index > 1 and '  ' or ' ') .. keys[index][1])
  end
  for index, key in ipairs(keys) do
    footer[2 * index - 1], footer[2 * index] = { '', 'EcaKey' }, { '', 'EcaMuted' }
    if alone or key.main then
      put_key(index)
    end
  end
  for _, main in ipairs({ true, 'later', false }) do
    for index, key in ipairs(keys) do
      local bare = footer[2 * index - 1][1] == ''
      local cells = vim.api.nvim_strwidth((bare and '  ' .. key[1] or '') .. ' ' .. key[2])
      if (key.main or false) == main and cells <= room then
        put(2 * index, ' ' .. key[2])
        if bare then
          put_key(index)
        end
      end
    end
  end
  return footer
end

--- The keys with what they do. If one cell is missing, the blank before them is dropped.
---@param keys eca.FooterKey[]
---@param room? integer cells
---@param more? eca.FooterKey stands for those that are left out because there is no room
---@return eca.Segment[] two a key, those of `more` last
function M.of(keys, room, more)
  local footer = filled(keys, math.huge, true)
  local over = room and M.width(footer) - room or 0
  if over <= 0 then
    return footer
  elseif over == 1 then
    footer[1][1] = keys[1][1]
    return footer
  end
  local short = more and filled(vim.list_extend({ unpack(keys) }, { more }), room, false)
  local has_room = short and M.width(short) <= room and short[#short][1] ~= ''
  return has_room and short or filled(keys, room, true)
end

--- The choice whose key is under the mouse; nil for a label that stands for several keys.
---@param win integer
---@param choices eca.Choice[]
---@return eca.Choice?
function M.pressed(win, choices)
  local mouse, config = vim.fn.getmousepos(), vim.api.nvim_win_get_config(win)
  if mouse.winid ~= win or mouse.winrow ~= config.height + 2 then -- not in the lower border
    return nil
  end
  local listed = vim.tbl_filter(function(choice)
    return choice.text ~= nil
  end, choices)
  local column = 1
  for index, segment in ipairs(config.footer or {}) do
    column = column + vim.api.nvim_strwidth(segment[1])
    if mouse.wincol <= column then
      local choice = mouse.wincol > 1 and listed[math.ceil(index / 2)]
      return choice and not choice.label and choice or nil
    end
  end
end

return M
