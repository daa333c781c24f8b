--- Answers in the user's own words: while a question is pending, the chat's input takes the answer.
---
--- Rules kept here:
--- - A prompt that is being typed never becomes an answer: the input takes the answer only if it
---   was empty or the user asked for that. What was in it is restored afterwards.
--- - When the question is gone, the typed text stays, and a message says that it is a prompt now.
--- - A key that sends was meant for what the input took when it was pressed (`chat.since`).
--- - A prompt that is being sent in place of an older one stays in the input until that is done.
--- - The user may have wiped an input: it is made again. A chat whose input cannot be made keeps no
---   question from the others.
local buffers = require('eca.chat.buffers')
local comfort = require('eca.host.comfort')
local decide = require('eca.input.decide')
local field = require('eca.input.field')
local guard = require('eca.consent.guard')
local history = require('eca.input.history')
local open = require('eca.chat.open')

local M = {}

local secrets = {} ---@type table<string, eca.Pending> that are asked for, by chat

--- Put an answer that did not fit into the input if that is empty, to be corrected.
---@param chat eca.Chat
local function show_typed(chat)
  local typed = chat.question.typed
  if typed and not field.draft(chat.input):find('%S') then
    field.put_above(chat.input, typed)
  end
end

---@param chat eca.Chat
---@param item eca.Pending
---@param draft string
local function begin(chat, item, draft)
  chat.question, chat.draft_before = item, draft
  show_typed(chat)
  field.mode_changed(chat.input)
end

--- Let the input take prompts again, and restore what was in it.
---@param chat eca.Chat
local function finish(chat)
  local draft = chat.draft_before or ''
  chat.question, chat.draft_before = nil, nil
  if draft:find('%S') then
    field.put_back(chat.input, draft)
  end
  -- An empty input has nothing that a key too many could send.
  chat.since = field.draft(chat.input):find('%S') and guard.begin() or nil
  field.mode_changed(chat.input)
end

--- Note that the question has changed: a form asks its next field, or this one again. What is typed
--- stays, but a secret never shows and no other text becomes one.
---@param chat eca.Chat
---@param now eca.Pending
local function change(chat, now)
  local before = chat.question --[[@as eca.Pending]]
  if before.typed and field.draft(chat.input) == before.typed then
    field.set_draft(chat.input, '') -- it was answered otherwise
  end
  chat.question = now -- also the same question; which subagent asks may be known only now
  if before.digest ~= now.digest then
    chat.since = guard.begin()
    show_typed(chat)
    field.mode_changed(chat.input)
  end
end

---@param chat eca.Chat
local function withdraw(chat)
  local typed = field.draft(chat.input)
  if typed == chat.question.typed then
    field.set_draft(chat.input, '') -- it did not fit, and the question was answered otherwise
  elseif typed:find('%S') then
    require('eca.ui.notify').warn('the question is not pending: what you typed is a prompt now')
  end
  finish(chat)
end

--- Do something for each of a list; what one raises does not stop the others.
---@generic T
---@param list T[]
---@param run fun(each: T)
local function for_each(list, run)
  for _, each in ipairs(list) do
    local worked, fault = pcall(run, each)
    if not worked then
      comfort.failed('a question is not in its input', tostring(fault))
    end
  end
end

--- Note which chats ask for a secret; their inputs go on taking prompts.
---@param items eca.Pending[]
local function note_secrets(items)
  local before = secrets
  secrets = {}
  for _, item in ipairs(items) do
    if item.secret and not secrets[item.chat] then
      secrets[item.chat] = item
      if (before[item.chat] or {}).digest ~= item.digest then
        require('eca.input.secret').appeared(item) -- late: most questions ask for none
      end
    end
  end
  for_each(vim.tbl_keys(vim.tbl_extend('keep', secrets, before)), function(id)
    local chat = buffers.restored(id) -- nil: it was deleted, in the same frame maybe
    if chat then
      field.changed(chat.input)
    end
  end)
end

--- Called when the pending requests change: leaves the mode for questions that are gone, and enters
--- it for new ones if nothing is typed.
---@param items eca.Pending[]
function M.update(items)
  note_secrets(items)
  for_each(buffers.ids(), function(id)
    local question = assert(buffers.get(id)).question
    local chat = question and buffers.ensure(id)
    local now = question and decide.now(question)
    if chat and now then
      change(chat, now)
    elseif chat then
      withdraw(chat)
    end
  end)
  for_each(items, function(item)
    local takes_text = item.kind == 'question' and item.freeform ~= false and not item.secret
    local chat = takes_text and buffers.ensure(item.chat)
    local is_free = chat and not chat.question and not (chat.edit and chat.edit.sending)
    if chat and is_free and not field.draft(chat.input):find('%S') then
      chat.since = guard.begin()
      begin(chat, item, '')
    end
  end)
end

--- Go to the chat's input and let it take the answer to a question. A secret is asked for instead.
---@param item eca.Pending
function M.write(item)
  if item.secret then
    require('eca.input.secret').ask(item) -- late: most questions ask for none
    return
  end
  local chat = buffers.ensure(item.chat)
  if chat.edit and chat.edit.sending then
    return require('eca.ui.notify').info('the prompt is being sent: answer after that')
  elseif not chat.question or chat.question.id ~= item.id then
    if chat.question then
      finish(chat)
    end
    local draft = history.leave(chat.id, field.draft(chat.input))
    field.set_draft(chat.input, '')
    begin(chat, item, draft)
  end
  open.chat(item.chat)
  vim.cmd.startinsert({ bang = true })
end

--- Send what was typed as the answer. The fields of a form follow one another: the input takes
--- answers until the form is gone.
---@param chat eca.Chat
---@param text string
function M.submit(chat, text)
  local item = chat.question --[[@as eca.Pending]]
  if decide.answer(item, text) then
    field.set_draft(chat.input, history.leave(chat.id))
    if not item.picks then
      finish(chat)
    end
  end
end

return M
