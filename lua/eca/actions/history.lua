--- Actions on the history of chats: resume, go to a prompt, roll back, fork, flag.
---
--- Rules kept here:
--- - "Here" is the block under the cursor in a transcript. Elsewhere the user chooses one of their
---   prompts first.
--- - A rollback names the prompt before it asks what to undo.
--- - What the server must be able to do is checked before (`needs` in `eca.keymaps.actions`).
local abilities = require('eca.state.abilities')
local blocks = require('eca.actions.blocks')
local chat_actions = require('eca.actions.chats')
local chat_open = require('eca.chat.open')
local chats = require('eca.chat.buffers')
local choose = require('eca.ui.choose')
local display_width = require('eca.ui.display_width')
local eca = require('eca')
local edit = require('eca.input.edit')
local field = require('eca.input.field')
local host = require('eca.host')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local return_window = require('eca.ui.return_window')
local scan = require('eca.text.scan')
local servers = require('eca.state.servers')
local servers_actions = require('eca.actions.servers')
local transcript = require('eca.transcript')
local undo = require('eca.review.undo')
local windows = require('eca.window')

local M = {}

--- The block under the cursor, or above it on a blank row; nil outside of transcripts.
---@return eca.BlockPlace?
local function block_here()
  local buf = vim.api.nvim_get_current_buf()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  return transcript.block_at(buf, row) or transcript.block_at(buf, row - 1)
end

-- Saved chats -----------------------------------------------------------------------------------

---@class eca.SavedChat a chat that the agent has saved
---@field id string
---@field title? string
---@field model? string
---@field messages? integer
---@field created? integer ms since 1970
---@field updated? integer ms since 1970
---@field running boolean
---@field open boolean it is open in this session
---@field last? string its last words, one line
---@field files? integer how many it has changed

local TITLE, LAST_WORDS, FOLDER = 40, 40, 60 -- cells

---@param chat eca.SavedChat
local function resume(chat)
  -- The shown chat, if its draft is empty: the host removes it if it has no messages either.
  local instead = windows.chat_shown()
  if instead and field.of_chat(instead):find('%S') then
    instead = nil
  end
  chats.ensure(chat.id)
  eca.open({ chat = chat.id })
  if not chat.open then
    local server = servers.unless_default(servers.next())
    host.send('resume', { chat = chat.id, instead = instead, server = server })
  end
end

--- A row for a saved chat. What tells chats apart comes first: a narrow screen cuts the end.
---@param chat eca.SavedChat
---@return string
local function row_of(chat)
  local changed, facts = chat.updated or chat.created, {} ---@type integer?, string[]
  facts[#facts + 1] = changed and chat_actions.age(math.floor(changed / 1000))
  facts[#facts + 1] = chat.files and ('%d changed'):format(chat.files)
  facts[#facts + 1] = chat.last and ('“%s”'):format(display_width.cut(chat.last, LAST_WORDS))
  facts[#facts + 1] = chat.messages and ('%d messages'):format(chat.messages)
  facts[#facts + 1] = chat.open and 'open' or nil
  facts[#facts + 1] = chat.model
  return display_width.list_row(chat.title or 'No title', TITLE, facts)
end

--- Choose one of the agent's saved chats and resume it.
---@param words? string only chats that have all of these
function M.resume(words)
  local wanted = { server = servers.unless_default(servers.next()), words = words }
  local asked = return_window.asked()
  host.ask('list_chats', wanted, function(saved)
    if not saved then
      return
    elseif #saved == 0 and words then
      notify.info(("no saved chat has '%s': :Eca resume lists all"):format(words))
    elseif #saved == 0 then
      notify.info('no saved chats for this workspace')
    elseif vim.api.nvim_get_mode().mode ~= 'n' then
      notify.info('the server is ready: :Eca resume lists its chats')
    elseif return_window.may_focus(asked, 'the list') then
      local folder = vim.fn.fnamemodify(host.folders()[1] or '', ':~')
      local is_long = vim.api.nvim_strwidth(folder) > FOLDER
      folder = is_long and '…' .. display_width.tail(folder, FOLDER - 1) or folder
      choose.one(('Resume a chat of %s'):format(folder), saved, row_of, resume)
    end
  end)
end

--- Load older messages.
function M.older()
  local id = chat_actions.current()
  if id then
    host.send('older', { chat = id })
  end
end

-- Places in the history -------------------------------------------------------------------------

--- A place in a chat: a prompt, a flag, or older messages that are not loaded.
---@class eca.Moment
---@field block integer
---@field kind 'user'|'flag'|'older'|'queued'
---@field title string
---@field text? string of a prompt that was asked for alone

local SIGNS = { queued = '⧗', user = '▌', flag = '⚑', older = '▴' }

--- Ask the host for moments of a chat: all, or the prompt that a block belongs to. Nothing happens
--- if the user has pressed a key meanwhile.
---@param wanted { chat: string, block?: integer }
---@param go_on fun(moments: eca.Moment[])
local function ask_moments(wanted, go_on)
  local asked = return_window.asked()
  host.ask('timeline', wanted, function(moments)
    if return_window.may_focus(asked, 'the list') then
      go_on(moments or {})
    end
  end)
end

--- Do something at a moment that the user chooses, the newest first.
---@param prompt string
---@param kind? 'user' default: all
---@param go_on fun(chat: string, moment: eca.Moment)
---@param with_queue? boolean prompts that wait can be chosen, too
local function at_choice(prompt, kind, go_on, with_queue)
  local id = chat_actions.current()
  if not id then
    return
  end
  ask_moments({ chat = id }, function(moments)
    local found = {} ---@type eca.Moment[]
    for _, moment in ipairs(moments) do
      if moment.kind == (kind or moment.kind) then
        table.insert(found, 1, moment)
      end
    end
    for index, queued in ipairs(with_queue and mirror.chat(id).queue or {}) do
      local title = display_width.cut(queued[2]:gsub('%s+', ' '), TITLE)
      table.insert(found, 1, { block = index, kind = 'queued', title = title })
    end
    if #found == 0 then
      return notify.info('nothing to choose from yet')
    end
    choose.one(prompt, found, function(moment)
      return ('%s %s'):format(SIGNS[moment.kind], moment.title)
    end, function(moment)
      go_on(id, moment)
    end)
  end)
end

--- Choose a prompt or a flag and go there.
function M.timeline()
  at_choice('History', nil, function(id, moment)
    if moment.kind == 'older' then
      host.send('older', { chat = id })
    else
      blocks.go_to(id, moment.block)
    end
  end)
end

local MESSAGES = { messages = true, tools = false, text = 'messages: remove them from here on' }
local BEGIN_AGAIN = 'messages: remove them, and start a new session with the rest'
local FILES =
  { messages = false, tools = true, text = 'files: undo what tools and commands changed' }
local BOTH = { messages = true, tools = true, text = 'both' }

--- The commands that a chat runs in the background; a new session of its agent ends them.
---@param chat string
---@return string[]
local function jobs_of(chat)
  return mirror.jobs(mirror.server_name(chat), chat)
end

--- The question before a chat goes back, with what happens to its jobs.
---@param verb string
---@param chat string
---@param moment eca.Moment
---@return string
local function question(verb, chat, moment)
  local text = ('%s "%s"'):format(verb, display_width.cut(moment.title, TITLE))
  local jobs = jobs_of(chat)
  if not jobs[1] then
    return text
  end
  local does = abilities.has(chat, 'rollback') and 'leaves' or 'ends'
  return ('%s. It %s %s.'):format(text, does, servers_actions.describe_jobs(jobs))
end

--- Ask what to undo from a prompt on, and do it.
---@param verb string
---@param items { text: string, messages: boolean, tools: boolean }[]
---@param chat string
---@param moment eca.Moment
---@param steps? eca.EditSteps another prompt takes the place of what is removed
local function go_back(verb, items, chat, moment, steps)
  local begins_again = not abilities.has(chat, 'rollback')
  choose.one(question(verb, chat, moment), items, function(item)
    return item == MESSAGES and begins_again and BEGIN_AGAIN or item.text
  end, function(item)
    if item.tools then
      undo.roll_back(chat, moment.block, item.messages, steps)
    else
      local wanted = { chat = chat, block = moment.block, messages = true, tools = false }
      undo.go_back(wanted, steps)
    end
  end)
end

---@param chat string
---@param moment eca.Moment
local function roll_back_to(chat, moment)
  go_back('Roll back to before', { MESSAGES, FILES, BOTH }, chat, moment)
end

--- Do something at the prompt that the cursor is in, else at one that the user chooses. One that is
--- queued is taken back.
---@param prompt string
---@param go_on fun(chat: string, moment: eca.Moment) with the text of the prompt
---@param with_queue? boolean those that are queued can be chosen, too
local function at_prompt(prompt, go_on, with_queue)
  local function ask(chat, block)
    ask_moments({ chat = chat, block = block }, function(moments)
      if moments[1] then
        go_on(chat, moments[1])
      else
        notify.info('no prompt above the cursor')
      end
    end)
  end
  local block = block_here()
  if block then
    return ask(block.chat, block.id)
  end
  at_choice(prompt, 'user', function(chat, moment)
    if moment.kind == 'queued' then
      host.send('unqueue', { chat = chat, index = moment.block, edit = true })
    else
      ask(chat, moment.block)
    end
  end, with_queue)
end

--- Roll the chat back to before a prompt.
function M.rollback()
  at_prompt('Roll back to before', roll_back_to)
end

--- Send another prompt in place of one, once the user has said whether files go back, too, and that
--- what the chat runs may end.
---@param chat string
---@param moment eca.Moment
---@param steps eca.EditSteps
local function replace(chat, moment, steps)
  local asked = return_window.asked()
  local wanted = { chat = chat, since = moment.block, messages = true }
  host.ask('plan_undo', wanted, function(plan)
    if not plan then -- the host has said why
      return
    end
    local ends_jobs = not abilities.has(chat, 'rollback') and jobs_of(chat)[1] ~= nil
    if plan.rows[1] or ends_jobs then
      if return_window.may_focus(asked, 'the question') then
        local items = plan.rows[1] and { MESSAGES, BOTH } or { MESSAGES }
        go_back('Send in place of', items, chat, moment, steps)
      end
    else
      undo.go_back({ chat = chat, block = moment.block, messages = true, tools = false }, steps)
    end
  end)
end

--- Put a prompt into the input, to send it again.
---@param chat string
---@param moment eca.Moment with its whole text
local function edit_prompt(chat, moment)
  local begun = edit.begin(chats.ensure(chat), moment.block, moment.text or '', function(steps)
    replace(chat, moment, steps)
  end)
  if begun then
    chat_open.chat(chat)
  end
end

--- Edit a prompt: nothing happens before it is sent.
function M.edit()
  at_prompt('Edit', edit_prompt, true)
end

--- Continue from here in a new chat; from the end if the server copies whole chats only.
function M.fork()
  local block, id = block_here(), windows.current_chat()
  if id and not abilities.has(id, 'fork_here') then
    host.send('fork', { chat = id, block = 0 })
  elseif block then
    host.send('fork', { chat = block.chat, block = block.id })
  else
    at_choice('Fork before', 'user', function(chat, moment)
      host.send('fork', { chat = chat, block = moment.block })
    end)
  end
end

-- Flags -----------------------------------------------------------------------------------------

--- Set a flag here, or at the end of the chat.
---@param text? string default: ask for it
function M.add_flag(text)
  local block = block_here()
  local id = block and block.chat or chat_actions.current()
  if not id then
    return
  end
  local function add(given)
    if given and given:find('%S') then
      host.send('add_flag', { chat = id, block = block and block.id or 0, text = scan.trim(given) })
    end
  end
  if text then
    add(text)
  else
    choose.line({ prompt = 'Flag: ' }, add)
  end
end

--- Remove the flag under the cursor.
function M.remove_flag()
  local block = block_here()
  if block and block.kind == 'flag' then
    host.send('remove_flag', { chat = block.chat, block = block.id })
  else
    notify.info('no flag under the cursor')
  end
end

--- Set a flag here, or remove the one under the cursor.
function M.flag()
  local block = block_here()
  if block and block.kind == 'flag' then
    M.remove_flag()
  else
    M.add_flag()
  end
end

return M
