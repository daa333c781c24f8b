--- Answers in the user's own words: while a question is pending, the chat's input takes the answer.
---
--- Rules kept here:
--- - A prompt that is being typed never becomes an answer: the input takes the answer only if it
---   was empty or the user asked for that. What was in it is restored afterwards.
--- - When the question is gone, the typed text stays, and a message says that it is a prompt now.
local buffers = require('eca.chat.buffers')
local decide = require('eca.input.decide')
local field = require('eca.input.field')
local input_mode = require('eca.state.input_mode')
local open = require('eca.chat.open')

local M = {}

--- Loaded late: most questions ask for no secret.
local function secret_mode()
  return require('eca.input.secret_mode')
end

---@class eca.AnswerMode
---@field item eca.Pending
---@field draft string what was in the input before

local current = {} ---@type table<string, eca.AnswerMode> by chat

---@param item eca.Pending
---@return boolean
local function takes_text(item)
  return item.kind == 'question' and item.freeform ~= false
end

--- What was in a chat's input before it took the answer.
---@param chat string
---@return string
function M.draft_before(chat)
  return current[chat] and current[chat].draft or ''
end

---@param item eca.Pending
---@return integer buf
local function input_of(item)
  return buffers.ensure(item.chat).input
end

--- Put an answer that did not fit into the input if that is empty, to be corrected.
---@param item eca.Pending
local function show_typed(item)
  if item.typed and not field.draft(input_of(item)):find('%S') then
    field.put_back(input_of(item), item.typed)
  end
end

---@param item eca.Pending
---@param draft string
local function begin(item, draft)
  current[item.chat] = { item = item, draft = draft }
  input_mode.set_question(item.chat, item)
  if item.secret then
    secret_mode().begin(item.chat, 'answer')
  end
  show_typed(item)
  field.mode_changed(input_of(item))
end

--- Let the input take prompts again, and restore what was in it.
---@param chat string
local function finish(chat)
  local answering = current[chat]
  local buf = input_of(answering.item)
  current[chat] = nil
  input_mode.set_question(chat, nil)
  if input_mode.secret(chat) then
    field.keep_aside(chat, answering.draft)
    secret_mode().finish(chat)
  elseif answering.draft:find('%S') then
    field.put_back(buf, answering.draft)
  end
  field.mode_changed(buf)
end

--- Let the input take the answer to a question; its text is restored afterwards.
---@param item eca.Pending
local function enter(item)
  local buf = input_of(item)
  local draft = field.draft(buf)
  field.set_draft(buf, '')
  begin(item, draft)
end

--- Note that the question has changed: a form asks its next field, or this one again. What is typed
--- stays, but a secret never shows and no other text becomes one.
---@param answering eca.AnswerMode
---@param now eca.Pending
local function change(answering, now)
  local before, buf = answering.item, input_of(now)
  if before.typed and field.draft(buf) == before.typed then
    field.set_draft(buf, '') -- it was answered otherwise
  end
  if before.secret ~= now.secret then
    finish(now.chat)
    if not input_mode.secret(now.chat) then
      enter(now)
    end
    return
  end
  answering.item = now -- also the same question; which subagent asks may be known only now
  input_mode.set_question(now.chat, now)
  if before.digest ~= now.digest then
    show_typed(now)
    field.mode_changed(buf)
  end
end

---@param chat string
local function withdraw(chat)
  local item = current[chat].item
  local typed = field.draft(input_of(item))
  if typed == item.typed then
    field.set_draft(input_of(item), '') -- it did not fit, and the question was answered otherwise
  elseif typed:find('%S') then
    require('eca.ui.notify').warn('the question is not pending: what you typed is a prompt now')
  end
  finish(chat)
end

--- Called when the pending requests change: leaves the mode for questions that are gone, and enters
--- it for new ones if nothing is typed.
---@param items eca.Pending[]
function M.update(items)
  for _, answering in ipairs(vim.tbl_values(current)) do
    local now = decide.now(answering.item)
    if now then
      change(answering, now)
    else
      withdraw(answering.item.chat)
    end
  end
  for _, item in ipairs(items) do
    local free = takes_text(item) and not (current[item.chat] or input_mode.secret(item.chat))
    if free and not field.draft(input_of(item)):find('%S') then
      begin(item, '')
    end
  end
end

--- Leave the mode because a login begins.
---@param chat string
function M.leave(chat)
  if current[chat] then
    finish(chat)
  end
end

--- Go to the chat's input and let it take the answer to a question.
---@param item eca.Pending
function M.write(item)
  local answering = current[item.chat]
  local is_ready = input_mode.is_login(item.chat) or (answering and answering.item.id == item.id)
  if not is_ready then
    if answering then
      finish(item.chat)
    end
    enter(item)
  end
  open.chat(item.chat)
  vim.cmd.startinsert({ bang = true })
end

--- Send what was typed as the answer. The fields of a form follow one another: the input takes
--- answers until the form is gone.
---@param chat string
---@param text string
function M.submit(chat, text)
  local item = current[chat].item
  if decide.answer(item, text) then
    field.set_draft(input_of(item), '')
    if not item.picks then
      finish(chat)
    end
  end
end

--- Send the secret that was typed as the answer.
---@param chat string
---@return boolean sent false: nothing is typed
function M.submit_secret(chat)
  local text = secret_mode().text(chat)
  if not text then
    return true
  end
  local item = current[chat].item
  if not text:find('%S') and not item.empty then
    return false
  end
  if decide.answer(item, text) then
    secret_mode().clear(chat)
  end
  return true
end

return M
