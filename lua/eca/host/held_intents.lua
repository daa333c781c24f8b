--- What the user did that no host has heard of yet.
---
--- Rules kept here:
--- - It is kept in order, for the host that follows. Of what was meant for one that is gone only
---   what does not depend on it is kept: its blocks and its questions mean nothing to another.
--- - While there is no host, the prompts that wait stand above the input and can be taken back;
---   they and the drafts are on the disk, too.
--- - The host counts the intents that it has taken. Words that it has not taken when it ends are in
---   the input again: they may be why it hung, so no other host gets them by itself.
local input_mode = require('eca.state.input_mode')
local unsent = require('eca.host.draft_file')

local M = {}

--- What any host can be told.
local LASTING = { open_chat = true, prompt = true, choose = true, keep_prompt = true }
LASTING.keep_draft = true

--- The fields of intents that hold the user's own words. Those for a login are kept nowhere.
local WORDS = { prompt = 'text', answer = 'text', reject = 'reason' }

---@class eca.SentWords
---@field number integer of the intent, as the host counts
---@field intent eca.Intent
---@field text string

local intents = {} ---@type eca.Intent[]
local words = {} ---@type eca.SentWords[] that the host has not taken yet
local sent = 0 -- intents, to this host
local shown = {} ---@type table<string, true> chats with prompts above the input that wait here

--- The host: not heard of yet, at work, or gone.
---@type 'awaited'|'there'|'gone'
local host = 'awaited'

--- Who keeps what is typed and not sent.
---@class eca.DraftKeeper
---@field ids fun(): string[] all chats
---@field text fun(chat: string): string
---@field forget fun() a host has ended: the next one knows no draft
---@field flush fun() tell the drafts that changed

local draw ---@type fun(op: any[])
local drafts ---@type eca.DraftKeeper

local host_pid ---@type fun(): integer?

--- Name who draws what waits here, who keeps the drafts, and who knows the host's process id.
---@param draws fun(op: any[])
---@param keeper eca.DraftKeeper
---@param pid fun(): integer?
function M.listen(draws, keeper, pid)
  draw, drafts, host_pid = draws, keeper, pid
end

--- All of it, in order.
---@return eca.Intent[]
function M.all()
  return intents
end

--- The prompts of a chat.
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

--- The words of a chat that are on their way to the host, and are not kept here anyway.
---@param chat string
---@return string[]
local function words_of(chat)
  local list = {} ---@type string[]
  for _, it in ipairs(words) do
    if it.intent.payload.chat == chat and not vim.list_contains(intents, it.intent) then
      list[#list + 1] = it.text
    end
  end
  return list
end

--- The prompts of a chat that nobody has sent: those that wait here, in the host, or before it.
---@param chat string
---@return string[]
local function waiting(chat)
  if host ~= 'there' then
    return texts_of(prompts_of(chat))
  end
  local queued = vim.tbl_map(function(prompt)
    return prompt[2]
  end, require('eca.state.mirror').queue(chat))
  return vim.list_extend(queued, words_of(chat))
end

--- Keep on the disk prompts that wait, and drafts.
---@param keeper? integer process id of who takes the file away when it has all that is in it
local function save(keeper)
  local texts = {} ---@type string[]
  for _, id in ipairs(drafts.ids()) do
    vim.list_extend(texts, waiting(id))
    local draft = drafts.text(id)
    texts[#texts + 1] = draft ~= '' and draft or nil
  end
  unsent.keep(table.concat(texts, '\n'), keeper)
end

---@param intent eca.Intent
---@return [string, string]
local function line_of(intent)
  return { 'queue', intent.payload.text }
end

---@param chat string
local function show(chat)
  local lines = vim.tbl_map(line_of, prompts_of(chat))
  if #lines > 0 or shown[chat] then
    shown[chat] = #lines > 0 or nil
    draw({ 'queue', chat, lines })
  end
end

--- Take what waits here off the screen.
function M.hide()
  for chat in pairs(shown) do
    draw({ 'queue', chat, {} })
  end
  shown = {}
end

--- Show what waits, and keep it on the disk as long as no host does; at Neovim's end also for a
--- host that may be ended before it has written it.
function M.settle()
  if vim.v.exiting ~= vim.NIL then
    save(host_pid())
  elseif host == 'there' and #words == 0 then
    unsent.keep('')
  elseif host == 'there' then
    save()
  elseif host == 'gone' then
    vim.tbl_map(show, drafts.ids())
    save()
  end
end

--- Keep an intent; of one draft only the last.
---@param intent eca.Intent
function M.add(intent)
  if vim.list_contains(intents, intent) or (host == 'gone' and not LASTING[intent.name]) then
    return
  end
  intents = vim.tbl_filter(function(other)
    local is_draft = intent.name == 'keep_draft' and other.name == 'keep_draft'
    return not is_draft or other.payload.chat ~= intent.payload.chat
  end, intents)
  intents[#intents + 1] = intent
  M.settle()
end

--- Say something before all else.
---@param intent eca.Intent
function M.begin_with(intent)
  table.insert(intents, 1, intent)
end

--- An intent goes to the host.
---@param intent eca.Intent
function M.sent(intent)
  sent = sent + 1
  local text, chat = intent.payload[WORDS[intent.name]], intent.payload.chat
  if text and not input_mode.is_login(chat) then
    words[#words + 1] = { number = sent, intent = intent, text = text }
  end
end

--- The host has taken so many intents.
---@param count integer
function M.taken(count)
  local before = #words
  words = vim.tbl_filter(function(it)
    return it.number > count
  end, words)
  if #words < before then
    M.settle()
  end
end

--- Another host counts from the beginning.
function M.forget_sent()
  words, sent = {}, 0
end

--- Put words that the host has not taken back into the inputs; what waited longer goes above.
function M.give_back()
  for _, chat in ipairs(drafts.ids()) do
    local texts = words_of(chat)
    if #texts > 0 then
      draw({ 'input', chat, table.concat(texts, '\n') })
    end
  end
  M.forget_sent()
end

--- There is no host: show what waits for one.
function M.strand()
  host = 'gone'
  drafts.forget()
  intents = vim.tbl_filter(function(intent)
    return LASTING[intent.name] == true
  end, intents)
  M.settle()
end

--- A host has heard all.
function M.heard()
  intents, host = {}, 'there'
  M.hide()
  drafts.flush() -- what is in the file only because it was not told yet
end

---@param chat string
---@param prompts eca.Intent[]
---@param edit boolean put them into the input
local function take_out(chat, prompts, edit)
  intents = vim.tbl_filter(function(intent)
    return not vim.list_contains(prompts, intent)
  end, intents)
  if edit and #prompts > 0 then
    draw({ 'input', chat, table.concat(texts_of(prompts), '\n') })
  end
  M.settle()
end

--- What can be done without a host, by intent.
---@type table<string, fun(payload: table<string, any>)>
local ALONE = {
  unqueue = function(payload)
    local prompt = prompts_of(payload.chat)[payload.index]
    take_out(payload.chat, { prompt }, payload.edit ~= false)
  end,
  stop = function(payload)
    take_out(payload.chat, prompts_of(payload.chat), true)
  end,
}

--- Do without a host what can be done without one.
---@param intent eca.Intent
---@return boolean done
function M.do_alone(intent)
  local run = ALONE[intent.name]
  if run then
    run(intent.payload)
  end
  return run ~= nil
end

return M
