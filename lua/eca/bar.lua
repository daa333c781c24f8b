--- The other chats, in the winbar of the one that is shown: number, sign, and title where there is
--- room. A click goes to a chat.
---
--- Rules kept here: there is no bar for one chat alone; a chat keeps its number while it lives.
local cells = require('eca.cells')

local M = {}

--- Windows with at least so many columns show titles.
local ROOMY = 110
local TITLE = 18

---@type table<integer, integer> the winbar's weight of a chat, by the rank of its attention
local WEIGHTS = { 95, 85, 70, 45 }

---@param title string
---@return string
local function one_line(title)
  return require('eca.scan').trim((title:gsub('%c+', ' ')))
end

--- The number of a chat, when there are others.
---@param id string
---@return integer?
function M.number(id)
  local ids = require('eca.chats').ids()
  for number, each in ipairs(ids) do
    if each == id and #ids > 1 then
      return number
    end
  end
end

--- The parts of a winbar for all chats but one.
---@param id string
---@param columns integer of the window
---@return eca.WinbarPart[]
function M.parts(id, columns)
  local parts = {} ---@type eca.WinbarPart[]
  for number, each in ipairs(require('eca.chats').ids()) do
    if each ~= id then
      local attention = require('eca.attention').of(each)
      local sign = attention.sign ~= ' ' and attention.sign or ''
      local title = require('eca.mirror').status(each).title or 'New chat'
      local text = columns >= ROOMY
        and ('%d%s %s'):format(number, sign, cells.cut(one_line(title), TITLE))
      parts[#parts + 1] = {
        text = text or number .. sign,
        group = attention.group,
        weight = WEIGHTS[attention.rank],
        join = '  ',
        click = number,
      }
    end
  end
  return parts
end

--- A chat was clicked. Called by the winbar.
---@param number integer
function M.click(number)
  local id = require('eca.chats').ids()[number]
  if id then
    require('eca').open({ chat = id })
  end
end

return M
