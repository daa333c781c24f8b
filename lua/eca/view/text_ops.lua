--- The ops that change the text of a chat: they edit its transcript and scroll its windows.
---
--- Rules kept here:
--- - A transcript is modifiable from its first op until `settle`. What is needed once for many ops
---   is done once, at the beginning or the end.
--- - Nothing is drawn in a transcript that has lost its text, before the host clears it.
local chats = require('eca.chat.buffers')
local follow_end = require('eca.window.follow_end')
local transcript = require('eca.transcript')

local M = {}

local edited = {} ---@type table<string, integer> transcripts unlocked since `settle`, by chat

--- Scroll the windows of edited transcripts to their ends, and make the transcripts read-only
--- again.
---@param stale table<string, 'all'|'times'> chats whose counts of new rows have changed are added
function M.settle(stale)
  for chat, buf in pairs(edited) do
    edited[chat] = nil
    if vim.api.nvim_buf_is_loaded(buf) then
      transcript.lock(buf)
      if follow_end.after(buf) then
        stale[chat] = stale[chat] or 'times'
      end
    end
  end
end

--- Make the transcript of a chat modifiable.
---@param id string
---@return integer buf
local function edit(id)
  local buf = edited[id]
  if not buf then
    buf = chats.ensure(id).buf
    edited[id] = buf
    follow_end.before(buf)
    vim.bo[buf].modifiable = true
  end
  return buf
end

--- Change text at or after a block; while a page of older messages is drawn, that is above
--- everything that is shown.
---@param buf integer
---@param block? integer
---@param change fun(buf: integer, ...: any)
local function change_from(buf, block, change, ...)
  if block and transcript.is_paging(buf, block) then
    follow_end.above(buf, change, ...)
  else
    change(buf, ...)
  end
end

--- Add blocks to a chat; only the first may have `after`.
---@param chat string
---@param openings eca.Opening[]
function M.open(chat, openings)
  local buf = edit(chat)
  if transcript.is_lost(buf) then
    return
  end
  change_from(buf, openings[1].after, transcript.open, openings)
  for _, opening in ipairs(openings) do
    if opening.kind == 'image' then
      require('eca.chat.pictures').drawn(chat, buf, opening.block)
    end
  end
end

--- Remove pictures with their text. If their module is not loaded, none was shown.
---@param buf integer
---@param block? integer
local function remove_pictures(buf, block)
  local pictures = package.loaded['eca.chat.pictures']
  if pictures then
    pictures.removed(buf, block)
  end
end

---@type table<string, fun(buf: integer, op: eca.Op)>
M.functions = {
  header = function(buf, op)
    transcript.header(buf, op.block, op.header, op.lost)
  end,
  append = function(buf, op)
    change_from(buf, op.block, transcript.append, op.block, op.text)
  end,
  body = function(buf, op)
    local marks = op.marks or {}
    change_from(buf, op.block, transcript.body, op.block, op.lines, marks, op.language)
  end,
  close = function(buf, op)
    transcript.close(buf, op.block)
  end,
  remove = function(buf, op)
    remove_pictures(buf, op.block)
    transcript.remove(buf, op.block)
  end,
  clear = function(buf)
    remove_pictures(buf)
    transcript.clear(buf)
    follow_end.cleared(buf)
  end,
}

--- Draw an op.
---@param op eca.Op
function M.draw(op)
  local change = M.functions[op.op] or error('unknown view op ' .. tostring(op.op))
  local buf = edit(op.chat)
  if op.op == 'clear' or not transcript.is_lost(buf) then
    change(buf, op)
  end
end

return M
