--- A login in a chat: while it runs, the chat's input takes a secret for the agent.
---
--- Rules kept here: what is typed goes into the intent `login` and nowhere else (secret_mode.lua).
local answer_mode = require('eca.input.answer_mode')
local input_mode = require('eca.state.input_mode')
local secret_mode = require('eca.input.secret_mode')

local M = {}

--- Called when a chat's state changes: begins or ends the login.
---@param chat string
---@param state eca.TurnState
function M.update(chat, state)
  if state == 'login' then
    if not input_mode.is_login(chat) then
      answer_mode.leave(chat)
    end
    secret_mode.begin(chat, 'login')
  elseif input_mode.is_login(chat) then
    secret_mode.finish(chat)
  end
end

--- Send what is typed, and empty the input.
---@param chat string
---@return boolean sent false: nothing is typed
function M.submit(chat)
  local text = secret_mode.text(chat)
  if not text then
    return true
  elseif not text:find('%S') then
    return false
  end
  secret_mode.clear(chat)
  require('eca.host').send('login', { chat = chat, text = text })
  return true
end

return M
