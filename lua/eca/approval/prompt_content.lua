--- The title of the approval float: what it asks, how much does not fit, and how to enter it.
---
--- Rules kept here: it holds our own text only, and keys that work in the current window and mode.
local display_width = require('eca.ui.display_width')
local keys = require('eca.ui.keys')

local M = {}

--- Cells of the longest hint that we add. A key mapped by the user may be longer.
M.WAY_CELLS = vim.api.nvim_strwidth(' · :Eca approval to answer')

--- What the float asks, and which one of several requests it is.
---@param item eca.Pending
---@param index integer
---@param count integer
---@return string
function M.question(item, index, count)
  local what = item.kind == 'question' and 'the agent asks' or 'allow this?'
  what = item.place and ('%s · %s'):format(what, item.place) or what
  return count > 1 and ('%s (%d/%d)'):format(what, index, count) or what
end

--- The keys that leave a mode in which keys are text.
---@type table<string, string>
local LEAVE = { i = '<Esc>', R = '<Esc>', t = '<C-\\><C-n>' }

--- What to press in the current window and mode to enter the float.
---@return string
local function way_in()
  local mode = vim.api.nvim_get_mode().mode:sub(1, 1)
  local leave = LEAVE[mode]
  local key = keys.of(0, mode == 't' and 't' or leave and 'i' or 'n', 'Approval')
  return key or (leave or '') .. (keys.of(0, 'n', 'Approval') or ':Eca approval')
end

--- What the float does not show: in words, and short.
---@param content eca.PromptContent
---@param more integer|'in chat'
---@return string, string
local function left_out(content, more)
  if more == 'in chat' then
    return ' · rest in the chat', ''
  elseif more > 0 then
    return (' · … %d more lines'):format(more), (' · +%d'):format(more)
  elseif content.cut then
    return ' · … not all of it', ' · …'
  end
  return '', ''
end

--- The title, shortened if the float is too narrow for it. How much is left out stays.
---@param content eca.PromptContent
---@param more integer|'in chat' rows that do not fit, or the chat shows them
---@param focused boolean the cursor is in it
---@param room integer cells
---@return string
function M.of(content, more, focused, room)
  local counted, short = left_out(content, more)
  local way = ' · ' .. way_in()
  local asks = way .. ' to answer'
  local tails = { counted .. asks, counted .. way, short .. asks, short .. way, short }
  if focused then
    local rest = counted ~= '' and more ~= 'in chat'
    tails = { counted .. (rest and ', ' .. content.rest or ''), counted, short }
  end
  for _, tail in ipairs(tails) do
    if vim.api.nvim_strwidth(content.title .. tail) <= room then
      return content.title .. tail
    end
  end
  local left = math.max(1, room - vim.api.nvim_strwidth(short))
  return display_width.cut(content.title, left) .. short
end

return M
