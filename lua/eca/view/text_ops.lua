--- The ops that change the text of a chat: they edit its transcript and scroll its windows.
---
--- Rules kept here:
--- - A transcript is modifiable from its first op until `settle`. What is needed once for many ops
---   is done once, at the beginning or the end.
--- - Consecutive blocks at the end of a chat are added by one edit.
local chats = require('eca.chat.buffers')
local follow_end = require('eca.window.follow_end')
local transcript = require('eca.transcript')

local M = {}

local edited = {} ---@type table<integer, string> chats of transcripts unlocked since `settle`
local on_edit ---@type fun()

--- Set what is called when there is something to settle.
---@param callback fun()
function M.listen(callback)
  on_edit = callback
end

--- Scroll the windows of edited transcripts to their ends, and make the transcripts read-only
--- again.
---@param changed table<string, true> chats whose counts of new rows have changed are added
function M.settle(changed)
  for buf, chat in pairs(edited) do
    edited[buf] = nil
    if vim.api.nvim_buf_is_loaded(buf) then
      transcript.lock(buf)
      changed[chat] = follow_end.after(buf) or changed[chat]
    end
  end
end

--- Make the transcript of a chat modifiable.
---@param id string
---@return integer buf
local function edit(id)
  local buf = chats.ensure(id).buf
  if not edited[buf] then
    edited[buf] = id
    follow_end.before(buf)
    transcript.unlock(buf)
    on_edit()
  end
  return buf
end

--- Change a transcript by adding new text; or, while a page of older messages is drawn, text above
--- everything that is shown.
---@param chat string
---@param place? integer id of the block
---@param change fun(buf: integer, ...: any)
local function add_text(chat, place, change, ...)
  local buf = edit(chat)
  if place and transcript.is_paging(buf, place) then
    follow_end.above(buf, change, ...)
    return
  end
  local before = vim.api.nvim_buf_line_count(buf)
  change(buf, ...)
  follow_end.added(buf, vim.api.nvim_buf_line_count(buf) - before)
end

--- Change a transcript in a way that may remove rows.
---@param chat string
---@param change fun(buf: integer, ...: any)
local function replace_text(chat, change, ...)
  local buf = edit(chat)
  local before = vim.api.nvim_buf_line_count(buf)
  change(buf, ...)
  follow_end.removed(buf, math.max(0, before - vim.api.nvim_buf_line_count(buf)))
end

--- Add blocks to a chat; only the first may have `after`.
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
    replace_text(chat, transcript.body, block, lines, marks, language)
  end
end

--- Close a block: it gets no more text.
---@param chat string
---@param block integer
function M.close(chat, block)
  transcript.close(edit(chat), block)
end

--- Remove pictures with their text. If their module is not loaded, none was shown.
---@param chat string
---@param block? integer
local function remove_pictures(chat, block)
  local pictures = package.loaded['eca.chat.pictures']
  if pictures then
    pictures.removed(chats.ensure(chat).buf, block)
  end
end

--- Remove a block.
---@param chat string
---@param block integer
function M.remove(chat, block)
  remove_pictures(chat, block)
  replace_text(chat, transcript.remove, block)
end

--- Remove all blocks.
---@param chat string
function M.clear(chat)
  local buf = edit(chat)
  remove_pictures(chat)
  transcript.clear(buf)
  follow_end.cleared(buf)
end

return M
