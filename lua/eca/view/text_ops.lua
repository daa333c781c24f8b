--- The ops about the text of a chat: they edit its transcript and tell the windows that follow it.
---
--- Rules kept here:
--- - A transcript can be edited from its first op until `settle`. What is needed once for many ops
---   is done once, in between.
--- - Blocks that are added to the end of a chat, one after the other, are one edit.
local chats = require('eca.chat.buffers')
local follow = require('eca.window.follow_end')
local transcript = require('eca.transcript')

local M = {}

local edited = {} ---@type table<integer, string> chats of transcripts unlocked since `settle`
local on_edit ---@type fun()

--- Set what is called when there is something to settle.
---@param callback fun()
function M.listen(callback)
  on_edit = callback
end

--- Bring the windows of what was edited to its end, and make it read-only again.
---@param changed table<string, true> gets the chats with windows that count other new rows now
function M.settle(changed)
  for buf, chat in pairs(edited) do
    edited[buf] = nil
    if vim.api.nvim_buf_is_loaded(buf) then
      transcript.lock(buf)
      changed[chat] = follow.after(buf) or changed[chat]
    end
  end
end

--- The transcript of a chat, ready to be changed.
---@param id string
---@return integer buf
local function edit(id)
  local buf = chats.ensure(id).buf
  if not edited[buf] then
    edited[buf] = id
    follow.before(buf)
    transcript.unlock(buf)
    on_edit()
  end
  return buf
end

--- Change a transcript at a block: by what nobody has seen yet, or, while a page of older messages
--- is drawn, above all that is shown.
---@param chat string
---@param place? integer a block
---@param change fun(buf: integer, ...: any)
local function add_text(chat, place, change, ...)
  local buf = edit(chat)
  if place and transcript.is_paging(buf, place) then
    follow.above(buf, change, ...)
    return
  end
  local before = vim.api.nvim_buf_line_count(buf)
  change(buf, ...)
  follow.added(buf, vim.api.nvim_buf_line_count(buf) - before)
end

--- Change a transcript in a way that may take rows out.
---@param chat string
---@param change fun(buf: integer, ...: any)
local function take_text(chat, change, ...)
  local buf = edit(chat)
  local before = vim.api.nvim_buf_line_count(buf)
  change(buf, ...)
  follow.removed(buf, math.max(0, before - vim.api.nvim_buf_line_count(buf)))
end

--- Add blocks to a chat; several if none but the first says what it follows.
---@param chat string
---@param openings eca.Opening[]
function M.open(chat, openings)
  local first = openings[1]
  local after = first.after
  if first.kind == 'flag' and after and not transcript.is_paging(edit(chat), after) then
    transcript.open(edit(chat), openings) -- the user has just set it
  else
    add_text(chat, after, transcript.open, openings)
  end
  for _, opening in ipairs(openings) do
    if opening.kind == 'image' then
      require('eca.chat.pictures').drawn(chat, chats.ensure(chat).buf, opening.block)
    end
  end
end

--- Replace the header of a block.
---@param chat string
---@param block integer
---@param header eca.Segment[]
---@param lost? eca.Segment[]
function M.header(chat, block, header, lost)
  transcript.header(edit(chat), block, header, lost)
end

--- Append text to the end of a block's body.
---@param chat string
---@param block integer
---@param text string
function M.append(chat, block, text)
  add_text(chat, block, transcript.append, block, text)
end

--- Replace the body of a block.
---@param chat string
---@param block integer
---@param lines string[]
---@param marks eca.Mark[]
---@param language? string
function M.body(chat, block, lines, marks, language)
  if transcript.is_paging(edit(chat), block) then
    add_text(chat, block, transcript.body, block, lines, marks, language)
  else
    take_text(chat, transcript.body, block, lines, marks, language)
  end
end

--- Take that a block gets no more text.
---@param chat string
---@param block integer
function M.close(chat, block)
  transcript.close(edit(chat), block)
end

--- Take pictures out with their text; where none was shown there is nothing to load.
---@param chat string
---@param block? integer
local function remove_pictures(chat, block)
  local pictures = package.loaded['eca.chat.pictures']
  if pictures then
    pictures.removed(chats.ensure(chat).buf, block)
  end
end

--- Take a block out.
---@param chat string
---@param block integer
function M.remove(chat, block)
  remove_pictures(chat, block)
  take_text(chat, transcript.remove, block)
end

--- Take all blocks out.
---@param chat string
function M.clear(chat)
  local buf = edit(chat)
  remove_pictures(chat)
  transcript.clear(buf)
  follow.cleared(buf)
end

return M
