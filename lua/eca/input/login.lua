--- A login in a chat: while it runs, the chat's input takes a secret for the agent.
---
--- Rules kept here:
--- - What is typed goes into the intent `login` and nowhere else: not into a prompt, a draft or the
---   history. Text that was not sent when the login ends is discarded, and a message says so.
--- - A user who is typing when the login ends stays in the secret field, so that the rest of the
---   secret does not become a prompt.
--- - What was in the input before, and what is put back meanwhile, is restored afterwards.
local answer_mode = require('eca.input.answer_mode')
local buffers = require('eca.chat.buffers')
local field = require('eca.input.field')
local input_mode = require('eca.state.input_mode')
local secret = require('eca.input.secret')

local M = {}

local over = {} ---@type table<string, true> chats whose login ended while a secret was being typed

---@param chat string
---@return integer buf
local function input_of(chat)
  return buffers.ensure(chat).input
end

---@param chat string
local function begin(chat)
  answer_mode.leave(chat)
  local buf = input_of(chat)
  local draft = field.draft(buf)
  secret.begin(buf)
  field.set_draft_before_login(chat, draft)
  input_mode.set_login(chat, true)
  field.mode_changed(buf)
end

---@param chat string
local function finish(chat)
  local buf = input_of(chat)
  local unsent = secret.text(buf):find('%S')
  secret.finish(buf)
  local draft = field.draft_before_login(chat)
  field.set_draft_before_login(chat, nil)
  input_mode.set_login(chat, false)
  over[chat] = nil
  if draft and draft:find('%S') then
    field.put_back(buf, draft)
  end
  field.mode_changed(buf)
  if unsent then
    require('eca.ui.notify').warn('the login has ended: what you typed was not sent')
  end
end

--- Is the user in the middle of typing a secret?
---@param buf integer
---@return boolean
local function is_typing(buf)
  local inserts = vim.api.nvim_get_mode().mode:find('^[iR]') ~= nil
  return inserts and vim.api.nvim_get_current_buf() == buf and secret.text(buf) ~= ''
end

--- End the login as soon as the user is not typing.
---@param chat string
local function finish_typed(chat)
  local buf = input_of(chat)
  if not is_typing(buf) then
    finish(chat)
  elseif not over[chat] then
    over[chat] = true
    vim.api.nvim_create_autocmd({ 'InsertLeave', 'BufLeave' }, {
      buffer = buf,
      callback = vim.schedule_wrap(function()
        if over[chat] then
          finish(chat)
        end
      end),
      once = true,
    })
  end
end

--- Called when a chat's state changes: begins or ends the login.
---@param chat string
---@param state eca.TurnState
function M.update(chat, state)
  if state ~= 'login' and input_mode.is_login(chat) then
    finish_typed(chat)
  elseif state == 'login' then
    over[chat] = nil
    if not input_mode.is_login(chat) then
      begin(chat)
    end
  end
end

--- Send what is typed, and empty the input.
---@param chat string
---@return boolean sent false: nothing is typed
function M.submit(chat)
  if over[chat] then
    finish(chat) -- shows that it was not sent
    return true
  end
  local buf = input_of(chat)
  local text = secret.text(buf)
  if not text:find('%S') then
    return false
  end
  secret.clear(buf)
  require('eca.host').send('login', { chat = chat, text = text })
  return true
end

return M
