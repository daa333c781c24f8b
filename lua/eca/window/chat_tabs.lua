--- The other chats, in the winbar of the chat that is shown: number, sign, and title if there is
--- room. A click goes to the chat.
---
--- Rules kept here: a single chat has no tabs.
local buffers = require('eca.chat.buffers')
local display_width = require('eca.ui.display_width')

local M = {}

--- Windows with at least this many columns show titles.
local ROOMY = 110
local TITLE = 18
--- Least cells of a tab, with the space before the next.
local LEAST = 3

---@type table<integer, integer> weight of a tab in the winbar, by the rank of the chat's attention
local WEIGHTS = { 95, 85, 70, 45 }

--- The number of a chat, if there are others.
---@param id string
---@return integer?
function M.number(id)
  local chat = buffers.get(id)
  return chat and buffers.are_several() and chat.number or nil
end

--- As many of the other chats as can fit; those that need the user most are preferred.
---@param id string
---@param most integer
---@return eca.Chat[] sorted by number
local function others(id, most)
  local ranks = { {}, {}, {}, {} } ---@type eca.Chat[][]
  for _, each in ipairs(buffers.ids()) do
    local chat = assert(buffers.get(each))
    local same = ranks[buffers.attention(chat).rank]
    same[#same + 1] = each ~= id and #same < most and chat or nil
  end
  local found = vim.list_slice(vim.iter(ranks):flatten():totable(), 1, most)
  table.sort(found, function(one, other)
    return one.number < other.number
  end)
  return found
end

--- The winbar parts for all chats but one, as many as can fit.
---@param id string
---@param columns integer of the window
---@return eca.WinbarPart[]
function M.parts(id, columns)
  return vim.tbl_map(function(other)
    local attention = buffers.attention(other)
    local sign = attention.sign ~= ' ' and attention.sign or ''
    local title = require('eca.state.mirror').title(other.id)
    local text = columns >= ROOMY
      and ('%d%s %s'):format(other.number, sign, display_width.cut(title, TITLE))
    return {
      text = text or other.number .. sign,
      group = attention.group,
      weight = WEIGHTS[attention.rank],
      separator = '  ',
      click = other.number,
    }
  end, others(id, math.floor(columns / LEAST)))
end

local open ---@type fun(id: string)

--- Set the function that opens a clicked chat.
---@param open_chat fun(id: string)
function M.open_with(open_chat)
  open = open_chat
end

--- Called by the winbar when a tab is clicked.
---@param number integer
function M.click(number)
  local id = buffers.numbered(number)
  if id then
    open(id)
  end
end

return M
