--- Which chats need the user's attention: what each is doing, and what is unseen.
local M = {}

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

--- The attention that a chat needs.
---@param id string
---@return eca.Attention
function M.of(id)
  local chat = require('eca.chat.buffers').get(id)
  return KINDS[chat and chat.unseen and 'finished' or require('eca.state.mirror').turn(id)]
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
