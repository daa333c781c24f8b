--- A login in a chat: while it runs the chat's input takes what the agent asks for, a secret.
---
--- Rules kept here:
--- - What is typed goes into the intent `login` and nowhere else: it is no prompt, no draft, in no
---   history. What is not sent when the login ends is gone, and the user is told.
--- - Who types when the login ends goes on in the same field: the rest of a secret is no prompt.
--- - What was in the input before, and what is put back into it meanwhile, comes back afterwards.
local M = {}

local drafts = {} ---@type table<string, string> what was in the input before, by chat
local over = {} ---@type table<string, true> chats whose login has ended while a secret was typed

--- Does a login run in a chat?
---@param chat string
---@return boolean
function M.runs(chat)
  return drafts[chat] ~= nil
end

--- What was in the chat's input before, while a login runs.
---@param chat string
---@return string?
function M.set_aside(chat)
  return drafts[chat]
end

--- Put text above what comes back after the login, and say so.
---@param chat string
---@param text string
function M.keep(chat, text)
  drafts[chat] = drafts[chat]:find('%S') and text .. '\n' .. drafts[chat] or text
  require('eca.input.drafts').changed(chat)
  require('eca.ui.notify').info('a login runs: what came back is in the input after it')
end

---@param chat string
---@return integer buf
local function input_of(chat)
  return require('eca.state.chats').ensure(chat).input
end

---@param chat string
local function begin(chat)
  require('eca.approval.answer_mode').leave(chat)
  local buf = input_of(chat)
  local draft = require('eca.input').draft(buf)
  require('eca.input.secret').begin(buf)
  drafts[chat] = draft
  require('eca.input').redress(buf)
end

---@param chat string
local function finish(chat)
  local secret = require('eca.input.secret')
  local buf = input_of(chat)
  local unsent = secret.text(buf):find('%S')
  secret.finish(buf)
  local draft = drafts[chat]
  drafts[chat], over[chat] = nil, nil
  if draft:find('%S') then
    require('eca.input').put_back(buf, draft)
  end
  require('eca.input').redress(buf)
  if unsent then
    require('eca.ui.notify').warn('the login is over: what you typed for it was not sent')
  end
end

--- Is the user in the middle of a secret? What is typed next is the rest of it.
---@param buf integer
---@return boolean
local function is_typing(buf)
  local inserts = vim.api.nvim_get_mode().mode:find('^[iR]') ~= nil
  return inserts
    and vim.api.nvim_get_current_buf() == buf
    and require('eca.input.secret').text(buf) ~= ''
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
  if state ~= 'login' and drafts[chat] then
    finish_typed(chat)
  elseif state == 'login' then
    over[chat] = nil
    if not drafts[chat] then
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
  local text = require('eca.input.secret').text(buf)
  if not text:find('%S') then
    return false
  end
  require('eca.input.secret').clear(buf)
  require('eca.host').send('login', { chat = chat, text = text })
  return true
end

return M
