--- Actions on the history of chats: resume, go to a prompt, roll back, fork, flag.
---
--- Rules kept here:
--- - "Here" is the block under the cursor in a transcript. Elsewhere the user chooses one of their
---   prompts first.
--- - A rollback names the prompt before it asks what to undo.
local abilities = require('eca.state.abilities')
local attention = require('eca.chat.attention')
local blocks = require('eca.actions.blocks')
local chats = require('eca.chat.buffers')
local choose = require('eca.ui.choose')
local display_width = require('eca.ui.display_width')
local eca = require('eca')
local field = require('eca.input.field')
local host = require('eca.host')
local notify = require('eca.ui.notify')
local requests = require('eca.host.requests')
local return_window = require('eca.ui.return_window')
local scan = require('eca.text.scan')
local servers = require('eca.state.servers')
local transcript = require('eca.transcript')
local undo = require('eca.review.undo')
local windows = require('eca.window')

local M = {}

---@param name string
---@param payload table<string, any>
local function send(name, payload)
  host.send(name, payload)
end

--- The block under the cursor, or nil outside of transcripts.
---@return eca.BlockPlace?
local function block_here()
  local buf = vim.api.nvim_get_current_buf()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  return transcript.block_at(buf, row) or transcript.block_at(buf, row - 1)
end

--- The current chat; shows a message if there is none.
---@return string?
local function current()
  local id = windows.current_chat()
  if not id then
    notify.info('no chat yet')
  end
  return id
end

--- Show a message if the server of the current chat cannot do something; returns whether it cannot.
---@param needs eca.Ability
---@return boolean
local function is_lacking(needs)
  local fault = abilities.fault(windows.current_chat(), needs)
  if fault then
    notify.warn(fault)
  end
  return fault ~= nil
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

local TITLE = 40

---@param chat eca.SavedChat
---@return string
local function describe(chat)
  local facts = {} ---@type string[]
  local changed = chat.updated or chat.created
  facts[#facts + 1] = changed and attention.age(math.floor(changed / 1000))
  facts[#facts + 1] = chat.messages and ('%d messages'):format(chat.messages)
  facts[#facts + 1] = chat.open and 'open' or nil
  facts[#facts + 1] = chat.model
  return display_width.list_row(chat.title or 'No title', TITLE, facts)
end

--- The shown chat, if its draft is empty: the host removes it if it has no messages either.
---@return string?
local function replaceable()
  local id = windows.chat_shown()
  local chat = id and chats.get(id)
  if chat and not field.draft(chat.input):find('%S') then
    return id
  end
end

---@param chat eca.SavedChat
local function resume(chat)
  local instead = replaceable()
  chats.ensure(chat.id)
  eca.open({ chat = chat.id })
  if not chat.open then
    local server = servers.unless_default(servers.next())
    send('resume', { chat = chat.id, instead = instead, server = server })
  end
end

--- Choose one of the agent's saved chats and resume it.
function M.resume()
  if is_lacking('list') then
    return
  end
  requests.ask('list_chats', { server = servers.unless_default(servers.next()) }, function(saved)
    if not saved then
      return
    elseif #saved == 0 then
      notify.info('no saved chats for this workspace')
      return
    elseif vim.api.nvim_get_mode().mode ~= 'n' then
      notify.info('the server is ready: :Eca resume lists its chats')
      return
    end
    choose.one(saved, { prompt = 'Resume', format_item = describe }, function(chat)
      if chat then
        resume(chat)
      end
    end)
  end)
end

--- Load older messages.
function M.older()
  local id = current()
  if id then
    send('older', { chat = id })
  end
end

-- Places in the history -------------------------------------------------------------------------

--- A place in a chat: a prompt, a flag, or older messages that are not loaded.
---@class eca.Moment
---@field block integer
---@field kind 'user'|'flag'|'older'
---@field title string

local PROMPT_TITLE = 40

local SIGNS = { user = '▌', flag = '⚑', older = '▴' }

---@param moment eca.Moment
---@return string
local function label(moment)
  return ('%s %s'):format(SIGNS[moment.kind], moment.title)
end

--- Ask the host for moments of a chat: all, or the prompt that a block belongs to. Nothing happens
--- if the user has pressed a key meanwhile.
---@param wanted { chat: string, block?: integer }
---@param go_on fun(moments: eca.Moment[])
local function ask_moments(wanted, go_on)
  local asked = return_window.asked()
  requests.ask('timeline', wanted, function(moments)
    if return_window.may_focus(asked, 'the list') then
      go_on(moments or {})
    end
  end)
end

--- Let the user choose a moment of the chat, the newest first.
---@param id string
---@param prompt string
---@param kinds table<string, true>
---@param go_on fun(moment: eca.Moment)
local function choose_moment(id, prompt, kinds, go_on)
  ask_moments({ chat = id }, function(moments)
    local found = {} ---@type eca.Moment[]
    for _, moment in ipairs(moments) do
      if kinds[moment.kind] then
        table.insert(found, 1, moment)
      end
    end
    if #found == 0 then
      notify.info('nothing to choose from yet')
      return
    end
    choose.one(found, { prompt = prompt, format_item = label }, function(moment)
      if moment then
        go_on(moment)
      end
    end)
  end)
end

--- Choose a prompt or a flag and go there.
function M.timeline()
  local id = current()
  if not id then
    return
  end
  choose_moment(id, 'History', { user = true, flag = true, older = true }, function(moment)
    if moment.kind == 'older' then
      send('older', { chat = id })
    else
      blocks.go_to(id, moment.block)
    end
  end)
end

--- Do something at a prompt that the user chooses.
---@param prompt string
---@param go_on fun(chat: string, moment: eca.Moment)
local function at_choice(prompt, go_on)
  local id = current()
  if id then
    choose_moment(id, prompt, { user = true }, function(moment)
      go_on(id, moment)
    end)
  end
end

local INCLUDED = {
  { text = 'messages: remove them from here on', messages = true, tools = false },
  { text = 'files: undo what tools and commands changed', messages = false, tools = true },
  { text = 'both', messages = true, tools = true },
}

--- Ask what to undo from a prompt on, and do it.
---@param chat string
---@param moment eca.Moment
local function roll_back_to(chat, moment)
  local title = display_width.cut(moment.title, PROMPT_TITLE)
  local options = {
    prompt = ('Roll back to before "%s"'):format(title),
    format_item = function(item)
      return item.text
    end,
  }
  choose.one(INCLUDED, options, function(item)
    if item and item.tools then
      undo.roll_back(chat, moment.block, item.messages)
    elseif item then
      send('rollback', { chat = chat, block = moment.block, messages = true, tools = false })
    end
  end)
end

--- Roll the chat back to before a prompt.
function M.rollback()
  if is_lacking('rollback') then
    return
  end
  local block = block_here()
  if not block then
    return at_choice('Roll back to before', roll_back_to)
  end
  ask_moments({ chat = block.chat, block = block.id }, function(moments)
    if moments[1] then
      roll_back_to(block.chat, moments[1])
    else
      notify.info('no prompt above the cursor')
    end
  end)
end

--- Continue from here in a new chat; from the end if the server copies whole chats only.
function M.fork()
  if is_lacking('fork') then
    return
  end
  local block, id = block_here(), windows.current_chat()
  if id and not abilities.has(id, 'fork_here') then
    send('fork', { chat = id, block = 0 })
    return
  end
  if block then
    send('fork', { chat = block.chat, block = block.id })
    return
  end
  at_choice('Fork before', function(chat, moment)
    send('fork', { chat = chat, block = moment.block })
  end)
end

-- Flags -----------------------------------------------------------------------------------------

--- Set a flag here, or at the end of the chat.
---@param text? string default: ask for it
function M.add_flag(text)
  if is_lacking('flags') then
    return
  end
  local block = block_here()
  local id = block and block.chat or current()
  if not id then
    return
  end
  local function add(given)
    if given and given:find('%S') then
      send('add_flag', { chat = id, block = block and block.id or 0, text = scan.trim(given) })
    end
  end
  if text then
    add(text)
  else
    require('eca.ui.choose').line({ prompt = 'Flag: ' }, add)
  end
end

--- Remove the flag under the cursor.
function M.remove_flag()
  if is_lacking('flags') then
    return
  end
  local block = block_here()
  if block and block.kind == 'flag' then
    send('remove_flag', { chat = block.chat, block = block.id })
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

---@param direction 1|-1
local function jump(direction)
  local buf = vim.api.nvim_get_current_buf()
  if not transcript.is_transcript(buf) then
    return
  end
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local found = transcript.find(buf, row, 'flag', direction)
  if found then
    vim.cmd("normal! m'")
    vim.api.nvim_win_set_cursor(0, { found + 1, 0 })
  else
    notify.info(direction == 1 and 'no flag below' or 'no flag above')
  end
end

--- Go to the next flag.
function M.next_flag()
  jump(1)
end

--- Go to the previous flag.
function M.previous_flag()
  jump(-1)
end

return M
