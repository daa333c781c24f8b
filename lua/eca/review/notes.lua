--- The user's notes on the changes of a chat: what was done with each, and comments, worded as one
--- prompt.
---
--- Rules kept here:
--- - Notes outlive the list: the host's key identifies a change in the next list, too.
--- - A comment is removed only when it is sent, deleted, or its chat is deleted.
--- - The host's list takes precedence: a listed change counts as neither kept nor reverted.
--- - Code is quoted in a fence that none of its lines can close.
local chats = require('eca.chat.buffers')
local choose = require('eca.ui.choose')
local drafts = require('eca.input.drafts')
local notify = require('eca.ui.notify')
local paths = require('eca.files.paths')
local rows = require('eca.review.rows')
local sanitize = require('eca.ui.sanitize')
local windows = require('eca.window')

local M = {}

local MOST_LINES = 40
--- Lines around a comment that tell where it is.
local AROUND = 3

---@class eca.Comment
---@field change eca.Change
---@field line integer 1-based, as it is now
---@field text string

---@param sign string
---@param lines string[]
---@param into string[]
local function quote(sign, lines, into)
  for index, line in ipairs(lines) do
    if index > MOST_LINES then
      into[#into + 1] = ('… %d more lines'):format(#lines - MOST_LINES)
      return
    end
    into[#into + 1] = sign .. line:gsub('\r$', '')
  end
end

---@param lines string[]
---@return string
local function fence_for(lines)
  local longest = 2
  for _, line in ipairs(lines) do
    for run in line:gmatch('`+') do
      longest = math.max(longest, #run)
    end
  end
  return ('`'):rep(longest + 1)
end

---@param comment eca.Comment
---@return string
local function place(comment)
  local path = paths.short(comment.change.path)
  local count = comment.change.count or 0
  local last = count > 1 and ('-%d'):format(comment.line + count - 1) or ''
  return ('%s:%d%s'):format(path, comment.line, last)
end

---@param comment eca.Comment
---@return string
local function paragraph(comment)
  local change, quoted = comment.change, {}
  if change.kind == 'turn' then
    local name = change.prompt ~= '' and ('“%s”'):format(change.prompt)
      or ('number %d'):format(change.turn)
    local subject = ('all changes of the turn %s: %s'):format(name, change.text)
    return ('%s\n\n%s'):format(subject, comment.text)
  end
  quote('-', change.before or {}, quoted)
  quote('+', change.after or {}, quoted)
  if #quoted == 0 then
    local subject = rows.subject(change)
    return ('%s (%s)\n\n%s'):format(place(comment), subject, comment.text)
  end
  local fence = fence_for(quoted)
  local code = table.concat(quoted, '\n')
  return ('%s\n\n%sdiff\n%s\n%s\n\n%s'):format(place(comment), fence, code, fence, comment.text)
end

---@class eca.ReviewNotes
---@field words table<string, string> what was done with a change, by key
---@field comments table<string, eca.Comment> unsent ones, by key

local by_chat = {} ---@type table<string, eca.ReviewNotes>

--- The notes of a chat.
---@param chat string
---@return eca.ReviewNotes
function M.of(chat)
  by_chat[chat] = by_chat[chat] or { words = {}, comments = {} }
  return by_chat[chat]
end

--- Set the comment on a change.
---@param chat string
---@param key string
---@param comment? eca.Comment nil: remove it
function M.comment(chat, key, comment)
  M.of(chat).comments[key] = comment
  drafts.changed(chat)
end

---@param change eca.Change
---@param buf integer
---@param first integer
---@param last integer
local function with_lines(change, buf, first, last)
  local above, below = math.max(0, first - 1 - AROUND), last + AROUND
  change.after = vim.api.nvim_buf_get_lines(buf, first - 1, last, false)
  change.above = vim.api.nvim_buf_get_lines(buf, above, first - 1, false)
  change.below = vim.api.nvim_buf_get_lines(buf, last, below, false)
  change.count = #change.after
  change.added, change.removed = #change.after, #change.before
  change.text = change.after[1] or change.before[1] or ''
end

--- Ask for a comment on lines of a file as they stand in its buffer, for the current chat; an empty
--- one removes it. In a buffer without a file, or without a chat, a message says so.
---@param buf integer
---@param first integer 1-based
---@param last integer `first - 1`: lines that stood before `first` are gone
---@param before? string[] what stood there before a tool changed it
---@return boolean asked
function M.on_lines(buf, first, last, before)
  local path, chat = paths.of_buffer(buf), windows.current_chat()
  if not path or not chat then
    notify.info(path and 'no chat to comment for: open one first' or 'no file to comment on here')
    return false
  end
  local key = ('%s:%d-%d'):format(path, first, last)
  local change = { key = key, turn = 0, prompt = '', path = path, kind = 'lines', line = first }
  change.before = before or {}
  with_lines(change, buf, first, last)
  local known = M.of(chat).comments[key]
  local where = ('%s:%d'):format(sanitize.line(vim.fs.basename(path)), first)
  local options = { prompt = ('Comment on %s: '):format(where), default = known and known.text }
  choose.line(options, function(text)
    if text then
      local comment = { change = change, line = first, text = text }
      M.comment(chat, key, text:find('%S') and comment or nil)
    end
  end)
  return true
end

--- Called when the comments of a chat were sent.
---@param chat string
function M.sent(chat)
  M.of(chat).comments = {}
  drafts.changed(chat)
end

--- The prompt with all comments of a chat, turn by turn and file by file; empty if there is none.
---@param chat string
---@return string
function M.prompt(chat)
  local comments = vim.tbl_values(M.of(chat).comments)
  table.sort(comments, function(one, other)
    local left, right = one.change, other.change
    if left.turn ~= right.turn then
      return left.turn < right.turn
    end
    return left.path == right.path and one.line < other.line or left.path < right.path
  end)
  return table.concat(vim.tbl_map(paragraph, comments), '\n\n')
end

--- The number of unsent comments of a chat, in words; nil if there is none.
---@param chat string
---@return string?
function M.count_unsent(chat)
  local count = vim.tbl_count(M.of(chat).comments)
  if count > 0 then
    return count == 1 and '1 comment' or ('%d comments'):format(count)
  end
end

--- Called with a new list of changes. Returns changes with unsent comments that are not in it.
---@param chat string
---@param changes eca.Change[]
---@param turn? integer the list has only this one
---@return eca.Change[]
function M.listed(chat, changes, turn)
  local notes, keys = M.of(chat), {} ---@type eca.ReviewNotes, table<string, true>
  for _, change in ipairs(changes) do
    keys[change.key] = true
    notes.words[change.key] = notes.words[change.key] == 'sent' and 'sent' or nil
    if notes.comments[change.key] then
      notes.comments[change.key].change = change
    end
  end
  local others = {} ---@type eca.Change[]
  for key, comment in pairs(notes.comments) do
    local change = comment.change
    if not keys[key] and (not turn or change.turn == turn) then
      others[#others + 1] = change
      if change.kind ~= 'turn' and change.turn > 0 then
        notes.words[key] = notes.words[key] or 'gone'
      end
    end
  end
  return others
end

--- Called when a chat is closed: forgets its notes if it was deleted.
---@param event { data: { chat: string } }
local function closed(event)
  local chat = event.data.chat
  vim.schedule(function()
    if by_chat[chat] and not chats.get(chat) then
      local unsent = M.count_unsent(chat)
      by_chat[chat] = nil
      if unsent then
        notify.warn(('%s discarded: the chat was deleted'):format(unsent))
      end
    end
  end)
end

drafts.add_source(M.prompt) -- unsent comments are saved like drafts

vim.api.nvim_create_autocmd('User', {
  group = vim.api.nvim_create_augroup('eca.review.notes', {}),
  pattern = 'EcaChatClosed',
  callback = closed,
})

return M
