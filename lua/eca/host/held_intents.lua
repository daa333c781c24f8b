--- What waits for the host: intents that no host has received yet, and those that it has not
--- answered.
---
--- Rules kept here:
--- - They are held in order for the next host. When a host exits, only intents that any host
---   understands are held: ids of blocks and questions mean nothing to another host.
--- - While there is no host, held prompts are shown above the input and can be taken back. They and
---   the drafts are also saved on disk.
--- - The host confirms some intents when it has handled them (op `answer`). If it exits before it
---   has handled some text of the user, the text is put back into the input: it may be why the host
---   hung, so no other host gets it automatically.
local draft_file = require('eca.host.draft_file')
local mirror = require('eca.state.mirror')

local M = {}

--- Intents that any host understands.
local PORTABLE = {
  open_chat = true,
  prompt = true,
  choose = true,
  trust = true,
  keep_draft = true,
  comment = true,
}

--- The intents that the host confirms, and their fields with text of the user. A secret is never
--- held.
---@type table<string, string|false>
local CONFIRMED = { prompt = 'text', answer = 'text', decide = 'reason', stop = false }

local intents = {} ---@type eca.Intent[]
--- The intents that were sent and are not confirmed, oldest first.
M.unconfirmed = {} ---@type eca.Intent[]
local shown = {} ---@type table<string, true> chats whose held prompts are shown

--- What is known of the host.
---@type 'unknown'|'running'|'gone'
local host = 'unknown'

--- Access to the drafts.
---@class eca.DraftSource
---@field ids fun(): string[] all chats
---@field text fun(chat: string): string
---@field forget fun() called when a host has exited: the next one has no drafts
---@field flush fun() sends the drafts that have changed

local draw ---@type fun(op: eca.Op)
local drafts ---@type eca.DraftSource

local publish ---@type fun()
local host_pid ---@type fun(): integer?

--- Set the functions that this file needs from others.
---@param listener eca.HostListener
---@param pid fun(): integer? the host's process id
function M.listen(listener, pid)
  draw, drafts, publish, host_pid = listener.draw, listener.drafts, listener.publish, pid
end

--- All held intents, in order.
---@return eca.Intent[]
function M.all()
  return intents
end

--- The held prompts of a chat.
---@param chat string
---@return eca.Intent[]
local function prompts_of(chat)
  return vim.tbl_filter(function(intent)
    return intent.name == 'prompt' and intent.payload.chat == chat
  end, intents)
end

---@param prompts eca.Intent[]
---@return string[]
local function texts_of(prompts)
  return vim.tbl_map(function(prompt)
    return prompt.payload.text
  end, prompts)
end

--- The texts of a chat that are on their way to the host and are not held.
---@param chat string
---@return string[]
local function texts_on_their_way(chat)
  local list = {} ---@type string[]
  for _, intent in ipairs(M.unconfirmed) do
    if intent.payload.chat == chat and not vim.list_contains(intents, intent) then
      list[#list + 1] = intent.text
    end
  end
  return list
end

--- The prompts of a chat that the agent has not got: held, queued in the host, or on their way to
--- it.
---@param chat string
---@return string[]
local function unsent_prompts(chat)
  if host ~= 'running' then
    return texts_of(prompts_of(chat))
  end
  local queued = {} ---@type string[]
  for _, prompt in ipairs(require('eca.state.mirror').chat(chat).queue) do
    queued[#queued + 1] = prompt[1] ~= 'note' and prompt[2] or nil -- a note is not the user's
  end
  return vim.list_extend(queued, texts_on_their_way(chat))
end

--- Save unsent prompts and drafts on disk.
---@param remover? integer id of the process that will remove the file
local function save(remover)
  local texts = {} ---@type string[]
  for _, id in ipairs(drafts.ids()) do
    vim.list_extend(texts, unsent_prompts(id))
    local draft = drafts.text(id)
    texts[#texts + 1] = draft ~= '' and draft or nil
  end
  draft_file.save(table.concat(texts, '\n'), remover)
end

---@param chat string
local function show(chat)
  local lines = vim.tbl_map(function(text)
    return { 'queue', text }
  end, texts_of(prompts_of(chat)))
  if #lines > 0 or shown[chat] then
    shown[chat] = #lines > 0 or nil
    draw({ op = 'queue', chat = chat, prompts = lines })
  end
end

--- Stop showing the held prompts.
function M.hide()
  for chat in pairs(shown) do
    draw({ op = 'queue', chat = chat, prompts = {} })
  end
  shown = {}
end

--- Show held prompts, and save unsent text on disk as long as no host does. When Neovim exits it is
--- saved in any case, because the host may be killed before it has saved it.
function M.settle()
  if vim.v.exiting ~= vim.NIL then
    save(host_pid())
  elseif host == 'running' then
    local has_text = vim.iter(M.unconfirmed):any(function(intent)
      return intent.text ~= nil
    end)
    if has_text then
      save()
    else
      draft_file.save('')
    end
  elseif host == 'gone' then
    vim.tbl_map(show, drafts.ids())
    save()
  end
end

local callbacks = {} ---@type table<integer, fun(value: any)> by the numbers of requests
local last_request = 0

--- Hold an intent; of each draft only the last.
---@param intent eca.Intent
---@return boolean held false: no host will get it, as only the one that is gone understood it
function M.add(intent)
  if vim.list_contains(intents, intent) then
    return true
  elseif host == 'gone' and not PORTABLE[intent.name] then
    return false
  end
  intents = vim.tbl_filter(function(other)
    local is_draft = intent.name == 'keep_draft' and other.name == 'keep_draft'
    return not is_draft or other.payload.chat ~= intent.payload.chat
  end, intents)
  intents[#intents + 1] = intent
  M.settle()
  return true
end

--- Hold an intent before all others.
---@param intent eca.Intent
function M.begin_with(intent)
  table.insert(intents, 1, intent)
end

--- Register what is called with the answer of the host. Returns the number to send.
---@param callback fun(value: any)
---@return integer
function M.expect(callback)
  last_request = last_request + 1
  callbacks[last_request] = callback
  return last_request
end

--- Called with an answer (op `answer`), nil if there is none. An unknown number is ignored.
---@param request? integer
---@param value any
function M.answered(request, value)
  local callback = request and callbacks[request]
  if callback then
    callbacks[request] = nil
    callback(value)
  end
end

--- Called when an intent is sent to the host.
---@param intent eca.Intent
function M.sent(intent)
  local field = CONFIRMED[intent.name]
  if field == nil then
    return
  end
  local payload = intent.payload
  local is_secret = intent.name == 'answer'
    and vim.iter(mirror.pending(payload.chat)):any(function(item)
      return item.secret and item.block == payload.block
    end)
  intent.text = field and not is_secret and payload[field] or nil
  M.unconfirmed[#M.unconfirmed + 1] = intent
  payload.request = M.expect(function()
    for place, other in ipairs(M.unconfirmed) do
      if other == intent then
        table.remove(M.unconfirmed, place)
        break
      end
    end
    if intent.text and draft_file.saved.path then -- else nothing is there to be removed
      M.settle()
    end
    publish()
  end)
  publish()
end

--- Called for a new host, which confirms nothing that was sent to another one.
function M.forget_sent()
  M.unconfirmed = {}
end

--- Put texts that the host has not handled back into the inputs, the oldest first.
function M.give_back()
  local ops = {} ---@type eca.Op[]
  for _, chat in ipairs(drafts.ids()) do
    local texts = texts_on_their_way(chat)
    local text = #texts > 0 and table.concat(texts, '\n')
    ops[#ops + 1] = text and { op = 'input', chat = chat, text = text } or nil
  end
  M.forget_sent()
  vim.tbl_map(draw, ops) -- last: an event of a window may send something to the next host
end

--- Called when the host is gone: shows and saves what is held for the next.
function M.host_gone()
  host = 'gone'
  drafts.forget()
  intents = vim.tbl_filter(function(intent)
    return PORTABLE[intent.name] == true
  end, intents)
  M.settle()
  for _, request in ipairs(vim.tbl_keys(callbacks)) do
    M.answered(request)
  end
end

--- Called when a host has received all intents.
function M.received()
  intents, host = {}, 'running'
  M.hide()
  drafts.flush() -- drafts that are only in the file, because they were not sent yet
end

--- Carry out an intent without a host, if that is possible: take back one held prompt, or all.
---@param intent eca.Intent
---@return boolean done
function M.do_without_host(intent)
  local name, payload = intent.name, intent.payload
  if name ~= 'unqueue' and name ~= 'stop' then
    return false
  end
  local prompts = prompts_of(payload.chat)
  prompts = name == 'unqueue' and { prompts[payload.index] } or prompts
  intents = vim.tbl_filter(function(other)
    return not vim.list_contains(prompts, other)
  end, intents)
  if payload.edit ~= false and #prompts > 0 then
    draw({ op = 'input', chat = payload.chat, text = table.concat(texts_of(prompts), '\n') })
  end
  M.settle()
  return true
end

return M
