--- The input while it takes a secret: for a login, or as the answer to a question.
---
--- Rules kept here:
--- - What is typed goes to whoever takes it and nowhere else: not into a prompt, a draft or the
---   history. Text that was not sent when the mode ends is discarded, and a message says so.
--- - A single word given to `:EcaChat` counts as typed here.
--- - A user who is typing when the mode ends stays in the secret field, so that the rest of the
---   secret does not become a prompt.
--- - What was in the input before, and what is put back meanwhile, is restored afterwards.
local buffers = require('eca.chat.buffers')
local field = require('eca.input.field')
local input_mode = require('eca.state.input_mode')
local secret = require('eca.input.secret')

local M = {}

---@type table<eca.SecretPurpose, string>
local NOT_SENT = {
  login = 'the login has ended: what you typed was not sent',
  answer = 'the question is not pending: what you typed was not sent',
}

local over = {} ---@type table<string, true> chats whose mode ended while a secret was being typed

---@param chat string
---@return integer buf
local function input_of(chat)
  return buffers.ensure(chat).input
end

--- Let the input take a secret, or go on with that. Secrets for something else are discarded.
---@param chat string
---@param purpose eca.SecretPurpose
function M.begin(chat, purpose)
  over[chat] = nil
  local before, buf = input_mode.secret(chat), input_of(chat)
  if before == purpose then
    return
  elseif before then
    secret.clear(buf)
  else
    local draft = field.draft(buf)
    secret.begin(buf)
    field.set_draft_before_secret(chat, draft)
  end
  input_mode.set_secret(chat, purpose)
  field.mode_changed(buf)
end

---@param chat string
local function finish(chat)
  local buf = input_of(chat)
  local unsent = secret.text(buf):find('%S') and NOT_SENT[input_mode.secret(chat)]
  secret.finish(buf)
  local draft = field.draft_before_secret(chat)
  field.set_draft_before_secret(chat, nil)
  input_mode.set_secret(chat, nil)
  over[chat] = nil
  if draft and draft:find('%S') then
    field.put_back(buf, draft)
  end
  field.mode_changed(buf)
  if unsent then
    require('eca.ui.notify').warn(unsent)
  end
end

--- Is the user in the middle of typing a secret?
---@param buf integer
---@return boolean
local function is_typing(buf)
  local inserts = vim.api.nvim_get_mode().mode:find('^[iR]') ~= nil
  return inserts and vim.api.nvim_get_current_buf() == buf and secret.text(buf) ~= ''
end

--- End the mode as soon as the user is not typing.
---@param chat string
function M.finish(chat)
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

--- What is typed. Once nobody takes it any more, nil: then it is discarded with a message.
---@param chat string
---@return string?
function M.text(chat)
  if over[chat] then
    finish(chat)
    return nil
  end
  return secret.text(input_of(chat))
end

--- Take a word that was given to a command: while a secret is asked for, it may be the secret. It
--- is added to what is typed, and the command is removed from Vim's history. Several words are a
--- prompt.
---@param chat string
---@param text string
---@return boolean taken
function M.take(chat, text)
  local word = text:match('^%s*(%S+)%s*$')
  if not word or not input_mode.secret(chat) then
    return false
  end
  secret.add(input_of(chat), word)
  field.changed(input_of(chat))
  if vim.fn.histget('cmd', -1):find(word, 1, true) then
    vim.fn.histdel('cmd', -1)
  end
  require('eca.ui.notify').info(field.taken(chat) .. ': your word is in its input, not sent yet')
  return true
end

--- Empty the input: what was typed was sent.
---@param chat string
function M.clear(chat)
  secret.clear(input_of(chat))
end

return M
