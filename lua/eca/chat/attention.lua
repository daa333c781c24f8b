--- Which chats need the user's attention: what each is doing, since when, and what is unseen.
---
--- Rules kept here:
--- - A chat that finished while no window showed it is unseen until one does.
--- - Times are seconds since the epoch, by this machine's clock.
local M = {}

local changed = {} ---@type table<string, integer> when the state changed, by chat
local unseen = {} ---@type table<string, true>

---@class eca.Attention
---@field word string
---@field sign string
---@field group string
---@field rank integer the lower, the more urgent

---@type table<string, eca.Attention>
local KINDS = {
  waiting = { word = 'waiting', sign = '?', group = 'EcaWaiting', rank = 1 },
  finished = { word = 'finished', sign = '✓', group = 'EcaNew', rank = 2 },
  login = { word = 'login', sign = '?', group = 'EcaWaiting', rank = 1 },
  running = { word = 'running', sign = '●', group = 'EcaRunning', rank = 3 },
  stopping = { word = 'stopping', sign = '◌', group = 'EcaWaiting', rank = 3 },
  idle = { word = 'idle', sign = ' ', group = 'EcaWinbarDim', rank = 4 },
}

--- Record that a chat's state has changed.
---@param id string
---@param now eca.TurnState
function M.record(id, now)
  local chat = require('eca.chat.buffers').get(id)
  local is_shown = chat and #vim.fn.win_findbuf(chat.buf) > 0 -- in any tab page
  changed[id] = os.time()
  unseen[id] = now == 'idle' and not is_shown or nil
end

--- Called when a chat is shown: it is not unseen any more.
---@param id string
function M.seen(id)
  unseen[id] = nil
end

--- Called when a chat is gone.
---@param id string
function M.forget(id)
  changed[id], unseen[id] = nil, nil
end

--- The attention that a chat needs.
---@param id string
---@return eca.Attention
function M.of(id)
  return KINDS[unseen[id] and 'finished' or require('eca.state.mirror').turn(id)]
end

--- When the state of a chat last changed; nil if it never did.
---@param id string
---@return integer? seconds
function M.since(id)
  return changed[id]
end

--- How long ago a time was: `5s`, `3m`, `2h`, `4d`.
---@param seconds integer since the epoch
---@return string
function M.age(seconds)
  local passed = math.max(0, os.time() - seconds)
  for _, unit in ipairs({ { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' } }) do
    if passed >= unit[1] then
      return ('%d%s'):format(math.floor(passed / unit[1]), unit[2])
    end
  end
  return passed .. 's'
end

return M
