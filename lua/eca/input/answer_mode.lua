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

---@class eca.AnswerMode
---@field item eca.Pending
---@field draft string what was in the input before

local current = {} ---@type table<string, eca.AnswerMode> by chat

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
  if answering.draft:find('%S') then
    field.put_back(buf, answering.draft)
  end
  field.mode_changed(buf)
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

--- Note which chats ask for a secret; their inputs go on taking prompts.
---@param items eca.Pending[]
local function note_secrets(items)
  for _, id in ipairs(buffers.ids()) do
    local before, now = input_mode.secret(id), nil ---@type eca.Pending?, eca.Pending?
    for _, item in ipairs(items) do
      now = now or (item.secret and item.chat == id and item or nil)
    end
    input_mode.set_secret(id, now)
    if now and (before or {}).digest ~= now.digest then
      require('eca.input.secret').appeared(id) -- late: most questions ask for none
    end
    if before or now then
      field.changed(buffers.ensure(id).input)
    end
  end
end

--- Called when the pending requests change: leaves the mode for questions that are gone, and enters
--- it for new ones if nothing is typed.
---@param items eca.Pending[]
function M.update(items)
  note_secrets(items)
  for _, answering in ipairs(vim.tbl_values(current)) do
    local now = decide.now(answering.item)
    if now then
      change(answering, now)
    else
      withdraw(answering.item.chat)
    end
  end
  for _, item in ipairs(items) do
    local takes_text = item.kind == 'question' and item.freeform ~= false and not item.secret
    local is_free = takes_text and not current[item.chat]
    if is_free and not field.of_chat(item.chat):find('%S') then
      begin(item, '')
    end
  end
end

--- Go to the chat's input and let it take the answer to a question. A secret is asked for instead.
---@param item eca.Pending
function M.write(item)
  local answering = current[item.chat]
  if item.secret then
    require('eca.input.secret').ask(item) -- late: most questions ask for none
    return
  elseif not answering or answering.item.id ~= item.id then
    if answering then
      finish(item.chat)
    end
    local buf = input_of(item)
    local draft = field.draft(buf)
    field.set_draft(buf, '')
    begin(item, draft)
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

return M
