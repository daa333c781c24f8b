--- The chats of this Neovim, and the two buffers of each.
---
--- Rules kept here:
--- - Buffers are created when a chat is first drawn or opened, and outlive their windows.
--- - A chat has one number while it lives. Winbars, lists, floats and the names of its buffers show
---   it, because the id may come from a server.
--- - Buffers are named once. The title is in `b:eca_title`.
--- - A buffer that was wiped out is created again. One that was emptied (`:edit`) is filled again:
---   the transcript by the host, the input with the draft.
local others = require('eca.ui.others')

local M = {}

---@class eca.Chat
---@field id string
---@field number integer in this Neovim, from 1
---@field buf integer the transcript
---@field input integer the input's buffer
---@field changed? integer seconds since the epoch, when its state changed
---@field unseen? boolean it has finished while no window showed it
---@field question? eca.Pending that its input answers now, instead of taking prompts
---@field draft_before? string what was in the input before that
---@field since? eca.Guard when its input began to take something else
---@field edit? eca.Edit the prompt that is edited in its input

--- A prompt that was sent, and whose text the input has.
---@class eca.Edit
---@field block integer
---@field newest? integer the last prompt of the chat, as far as the user knows
---@field before string the draft that was set aside
---@field sending boolean the chat is going back to before it
---@field submit fun() send what the input has in its place
---@field changed fun() the user has changed the input, and inserts no text
---@field leave fun() keep what the input has as a draft

--- What the input does while a chat goes back to before a prompt. `begins` is called before that,
--- and returns whether it may; `done` when it has, or could not.
---@class eca.EditSteps
---@field ask? fun(wanted: eca.GoBack, done: fun(is_done: boolean)) default: roll back
---@field begins fun(): boolean
---@field done fun(is_back: boolean)

---@alias eca.EditReplace fun(steps: eca.EditSteps) has a chat go back, if the user wants it

---@alias eca.ChatBuffer 'chat'|'input'

--- What `view/` does with the buffers of chats.
---@class eca.BufferListener
---@field created fun(chat: eca.Chat, kind: eca.ChatBuffer, gone?: integer) `gone` was wiped out
---@field emptied fun(chat: eca.Chat, kind: eca.ChatBuffer) it has lost its text
---@field leaves fun(chat: eca.Chat) its buffers are about to be deleted
---@field gone fun(chat: eca.Chat)

local chats = {} ---@type table<string, eca.Chat>
local order = {} ---@type string[] oldest first
local by_buffer = {} ---@type table<integer, eca.Chat>
local memories = {} ---@type table<string, any>[] by chat
local last_number = 0
local latest ---@type string? the chat that was last shown
local listener ---@type fun(): eca.BufferListener

--- Set the function that returns the listener, which is called for every buffer.
---@param new_listener fun(): eca.BufferListener
function M.listen(new_listener)
  listener = new_listener
end

--- A table by chats' ids, which loses what it has of a chat when that is deleted.
---@return table<string, any>
function M.memory()
  memories[#memories + 1] = {}
  return memories[#memories]
end

--- A number that no buffer's name has yet: the user or a session file may have created one.
---@return integer
local function next_number()
  local taken
  repeat
    last_number = last_number + 1
    taken = vim.fn.bufloaded(('eca://chat/%d'):format(last_number))
      + vim.fn.bufloaded(('eca://input/%d'):format(last_number))
  until taken == 0
  return last_number
end

--- Have a buffer filled again when it is unloaded without being wiped out.
---@param chat eca.Chat
---@param kind eca.ChatBuffer
---@param buf integer
local function watch_unload(chat, kind, buf)
  vim.api.nvim_create_autocmd('BufUnload', {
    buffer = buf,
    callback = function()
      if vim.v.exiting ~= vim.NIL then
        return
      end
      vim.schedule(function()
        if by_buffer[buf] and vim.api.nvim_buf_is_loaded(buf) then
          listener().emptied(chat, kind)
        end
      end)
    end,
  })
end

---@param chat eca.Chat
---@param kind eca.ChatBuffer
---@param gone? integer wiped-out buffer that it replaces
local function add(chat, kind, gone)
  local buf = others.create_buf()
  require('eca.files').name(buf, ('%s/%d'):format(kind, chat.number))
  vim.b[buf].eca_title = require('eca.state.mirror').title(chat.id)
  chat[kind == 'chat' and 'buf' or 'input'] = buf
  by_buffer[buf] = chat
  listener().created(chat, kind, gone)
  others.set('FileType', buf, 'filetype', 'eca-' .. kind)
  others.announce(buf, kind)
  watch_unload(chat, kind, buf)
end

--- The chat of an id, with both buffers; created if there is none.
---@param id string
---@return eca.Chat
function M.ensure(id)
  local chat = chats[id]
  if not chat then
    require('eca.ui.highlights').setup()
    chat = { id = id, number = next_number() }
    add(chat, 'chat')
    add(chat, 'input')
    chats[id] = chat
    order[#order + 1] = id
    latest = latest or id
  end
  if not vim.api.nvim_buf_is_loaded(chat.buf) then -- wiped out, or unloaded
    by_buffer[chat.buf] = nil
    add(chat, 'chat')
    listener().emptied(chat, 'chat')
  end
  if not vim.api.nvim_buf_is_loaded(chat.input) then
    by_buffer[chat.input] = nil
    add(chat, 'input', chat.input)
  end
  return chat
end

--- Create a chat without showing it.
---@return string id
function M.new()
  return M.ensure(M.new_id()).id
end

--- The chat of an id, if there is one. Who works with its buffers needs `restored`.
---@param id string
---@return eca.Chat?
function M.get(id)
  return chats[id]
end

--- The chat of an id, if there is one, with both buffers: they may have been wiped out.
---@param id string
---@return eca.Chat?
function M.restored(id)
  return chats[id] and M.ensure(id)
end

--- The chat that a buffer belongs to.
---@param buf integer
---@return eca.Chat? chat, 'chat'|'input'|nil kind
function M.of_buffer(buf)
  local chat = by_buffer[buf]
  if not chat then
    return nil
  end
  return chat, chat.buf == buf and 'chat' or 'input'
end

--- The chat of a number.
---@param number integer
---@return string? id
function M.numbered(number)
  for id, chat in pairs(chats) do
    if chat.number == number then
      return id
    end
  end
end

--- Note whether a chat has finished while no window showed it. The host lists chats by that.
---@param id string
---@param unseen true?
local function set_unseen(id, unseen)
  if chats[id].unseen ~= unseen then
    chats[id].unseen = unseen
    require('eca.host').send_if_running('unseen', { chat = id, unseen = unseen or false })
  end
end

--- Called when the user works with a chat: nothing of it is unseen.
---@param id string
function M.use(id)
  latest = id
  set_unseen(id, nil)
end

--- Called when the state of a chat's turn has changed.
---@param id string
---@param is_idle boolean
function M.state_changed(id, is_idle)
  if chats[id] then
    local is_shown = #vim.fn.win_findbuf(chats[id].buf) > 0 -- in any tab page
    chats[id].changed = os.time()
    set_unseen(id, is_idle and not is_shown or nil)
  end
end

--- The chat the user last worked with.
---@return string?
function M.latest()
  return latest
end

---@class eca.Attention
---@field word string
---@field sign string
---@field group string
---@field rank integer the lower, the more urgent

--- By what a chat does.
---@type table<string, eca.Attention>
local KINDS = {
  waiting = { word = 'waiting', sign = '?', group = 'EcaWaiting', rank = 1 },
  finished = { word = 'finished', sign = '✓', group = 'EcaNew', rank = 2 },
  login = { word = 'login', sign = '?', group = 'EcaWaiting', rank = 1 },
  running = { word = 'running', sign = '●', group = 'EcaRunning', rank = 3 },
  stopping = { word = 'stopping', sign = '◌', group = 'EcaWaiting', rank = 3 },
  idle = { word = 'idle', sign = ' ', group = 'EcaWinbarDim', rank = 4 },
}

--- The attention that a chat needs: what it is doing, or that it has finished unseen.
---@param chat eca.Chat
---@return eca.Attention
function M.attention(chat)
  return KINDS[chat.unseen and 'finished' or require('eca.state.mirror').turn(chat.id)]
end

--- Called when a chat has another title: sets `b:eca_title` of its buffers.
---@param id string
function M.retitle(id)
  local chat = chats[id]
  for _, buf in ipairs(chat and { chat.buf, chat.input } or {}) do
    if vim.api.nvim_buf_is_valid(buf) then
      vim.b[buf].eca_title = require('eca.state.mirror').title(id)
    end
  end
end

--- Delete a chat and its buffers, which may have been wiped out. No window may show it any more.
--- It is forgotten once they are gone: where Neovim forbids that, this is called again.
---@param id string
function M.forget(id)
  local chat = chats[id]
  if not chat then
    return
  end
  listener().leaves(chat)
  for _, buf in ipairs({ chat.buf, chat.input }) do
    if vim.api.nvim_buf_is_valid(buf) then
      vim.api.nvim_buf_delete(buf, { force = true })
    end
    by_buffer[buf] = nil
  end
  chats[id] = nil
  order = vim.tbl_filter(function(each)
    return each ~= id
  end, order)
  latest = latest ~= id and latest or order[#order]
  for _, memory in ipairs(memories) do
    memory[id] = nil
  end
  listener().gone(chat)
end

--- Are there several chats? Only then their numbers say something.
---@return boolean
function M.are_several()
  return #order > 1
end

--- All ids, oldest first.
---@return string[]
function M.ids()
  return vim.deepcopy(order)
end

--- A new id of a chat: a random UUID (version 4), in the usual form of 36 characters.
---@return string
function M.new_id()
  local bytes = { assert(vim.uv.random(16)):byte(1, 16) }
  bytes[7] = bytes[7] % 16 + 0x40
  bytes[9] = bytes[9] % 64 + 0x80
  local digits = ('%02x'):rep(16):format(unpack(bytes))
  return (digits:gsub('^(%x%x%x%x%x%x%x%x)(%x%x%x%x)(%x%x%x%x)(%x%x%x%x)', '%1-%2-%3-%4-'))
end

return M
