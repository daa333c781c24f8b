--- A login in a chat: while it runs the chat's input takes what the agent asks for, a secret.
---
--- Rules kept here:
--- - What is typed goes into the intent `login` and nowhere else: it is no prompt, no draft, in no
---   history. What is not sent when the login ends is gone, and the user is told.
--- - Who types when the login ends goes on in the same field: the rest of a secret is no prompt.
--- - What was in the input before, and what is put back into it meanwhile, comes back afterwards.
local answer_mode = require('eca.input.answer_mode')
local buffers = require('eca.chat.buffers')
local field = require('eca.input.field')
local input_mode = require('eca.state.input_mode')
local secret = require('eca.input.secret')

local M = {}

local over = {} ---@type table<string, true> chats whose login has ended while a secret was typed

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
  field.put_aside(chat, draft)
  input_mode.set_login(chat, true)
  field.redress(buf)
end

---@param chat string
local function finish(chat)
  local buf = input_of(chat)
  local unsent = secret.text(buf):find('%S')
  secret.finish(buf)
  local draft = field.aside(chat)
  field.put_aside(chat, nil)
  input_mode.set_login(chat, false)
  over[chat] = nil
  if draft and draft:find('%S') then
    field.put_back(buf, draft)
  end
  field.redress(buf)
  if unsent then
    require('eca.ui.notify').warn('the login is over: what you typed for it was not sent')
  end
end

--- Is the user in the middle of a secret? What is typed next is the rest of it.
---@param buf integer
---@return boolean
local function is_typing(buf)
  local inserts = vim.api.nvim_get_mode().mode:find('^[iR]') ~= nil
  return inserts and vim.api.nvim_get_current_buf() == buf and secret.text(buf) ~= ''
end

--- End it, as soon as nobody types into it.
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

--- Take what a chat does now.
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
---@return boolean sent false when nothing is typed
function M.submit(chat)
  if over[chat] then
    finish(chat) -- which tells that it was not sent
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
