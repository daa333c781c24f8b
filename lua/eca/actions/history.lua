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
local chats = require('eca.chat.buffers')
local choose = require('eca.ui.choose')
local display_width = require('eca.ui.display_width')
local eca = require('eca')
local field = require('eca.input.field')
local host = require('eca.host')
local notify = require('eca.ui.notify')
local return_window = require('eca.ui.return_window')
local scan = require('eca.text.scan')
local servers = require('eca.state.servers')
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

local TITLE = 40

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

--- Choose one of the agent's saved chats and resume it.
function M.resume()
  host.ask('list_chats', { server = servers.unless_default(servers.next()) }, function(saved)
    if not saved then
      return
    elseif #saved == 0 then
      notify.info('no saved chats for this workspace')
    elseif vim.api.nvim_get_mode().mode ~= 'n' then
      notify.info('the server is ready: :Eca resume lists its chats')
    else
      choose.one('Resume', saved, function(chat)
        local changed, facts = chat.updated or chat.created, {} ---@type integer?, string[]
        facts[#facts + 1] = changed and chat_actions.age(math.floor(changed / 1000))
        facts[#facts + 1] = chat.messages and ('%d messages'):format(chat.messages)
        facts[#facts + 1] = chat.open and 'open' or nil
        facts[#facts + 1] = chat.model
        return display_width.list_row(chat.title or 'No title', TITLE, facts)
      end, resume)
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
---@field kind 'user'|'flag'|'older'
---@field title string

local SIGNS = { user = '▌', flag = '⚑', older = '▴' }

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
local function at_choice(prompt, kind, go_on)
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

local INCLUDED = {
  { text = 'messages: remove them from here on', messages = true, tools = false },
  { text = 'files: undo what tools and commands changed', messages = false, tools = true },
  { text = 'both', messages = true, tools = true },
}

--- Ask what to undo from a prompt on, and do it.
---@param chat string
---@param moment eca.Moment
local function roll_back_to(chat, moment)
  local title = display_width.cut(moment.title, TITLE)
  choose.one(('Roll back to before "%s"'):format(title), INCLUDED, function(item)
    return item.text
  end, function(item)
    if item.tools then
      undo.roll_back(chat, moment.block, item.messages)
    else
      host.send('rollback', { chat = chat, block = moment.block, messages = true, tools = false })
    end
  end)
end

--- Roll the chat back to before a prompt.
function M.rollback()
  local block = block_here()
  if not block then
    return at_choice('Roll back to before', 'user', roll_back_to)
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
