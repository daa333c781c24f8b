--- What the approval float shows, whether two of these are the same, and its title: what it asks,
--- how much does not fit, and how to enter it.
---
--- Rules kept here: the title holds our own text only, and keys that work in the current window and
--- mode.
local display_width = require('eca.ui.display_width')
local footer = require('eca.ui.footer')
local keys = require('eca.ui.keys')

local M = {}

---@class eca.PromptContent
---@field key string identifies the request as the agent has made it
---@field digest string of what is shown of it; the user may take only a part
---@field chat string
---@field title string one line, our own text
---@field rest string how to see all of the text, our own text
---@field lines string[]
---@field marks eca.Mark[] of `lines`
---@field quoted [integer, integer] 0-based first and last row of `lines` that the agent wrote
---@field seen? fun(float: integer): eca.SeenBlock? the request's block on the screen
---@field cut? boolean `lines` are not all of it
---@field choices eca.Choice[] what the keys do, in the order of the border
---@field gone fun(by_user: boolean) called when something other than this file closes the window
---@field read fun() called when all of its rows were on the screen, maybe after scrolling

--- Is it the same request, with the same text? The user's own choice makes no other one of it.
---@param left eca.PromptContent
---@param right eca.PromptContent
---@return boolean
function M.same_request(left, right)
  local is_chosen = left.digest ~= right.digest
  return left.key == right.key and (is_chosen or vim.deep_equal(left.lines, right.lines))
end

--- Is it also drawn the same?
---@param left eca.PromptContent
---@param right eca.PromptContent
---@return boolean
function M.same(left, right)
  return M.same_request(left, right)
    and left.digest == right.digest
    and left.title == right.title
    and vim.deep_equal(left.marks, right.marks)
    and vim.deep_equal(footer.keys(left.choices), footer.keys(right.choices))
end

--- Cells of the longest hint that we add. A key mapped by the user may be longer.
M.WAY_CELLS = vim.api.nvim_strwidth(' · :Eca approval to answer')

--- What the float asks, and which one of several requests it is.
---@param item eca.Pending
---@param index integer
---@param count integer
---@return string
function M.question(item, index, count)
  local allowed = item.stands and ('allow %s?'):format(item.stands) or 'allow this?'
  local what = item.kind == 'question' and 'the agent asks' or allowed
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
function M.title(content, more, focused, room)
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
