--- The user's notes on the changes of a chat: what was done with each, and comments, on changes or
--- on any lines of files, which are sent as one prompt.
---
--- Rules kept here:
--- - The host keeps the comments, over turns and restarts, and knows what has become of each. Here
---   is a copy of what it has said, and of what it has not heard yet.
--- - What no host has confirmed is saved like a draft, and told to the next host.
--- - The host's list takes precedence: a listed change counts as neither kept nor reverted.
local buffers = require('eca.chat.buffers')
local choose = require('eca.ui.choose')
local comment_marks = require('eca.review.comment_marks')
local drafts = require('eca.input.drafts')
local field = require('eca.input.field')
local held_intents = require('eca.host.held_intents')
local host = require('eca.host')
local input = require('eca.input')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local paths = require('eca.files.paths')
local sanitize = require('eca.ui.sanitize')
local winbar = require('eca.window.winbar')
local windows = require('eca.window')

local M = {}

local TURN = 'all changes of the turn '

local words = buffers.memory() ---@type table<string, table<string, string>> by chat and key
local listeners = {} ---@type fun(chat: string)[]
local made = 0

--- What was done with the changes of a chat, by their keys.
---@param chat string
---@return table<string, string>
function M.words(chat)
  words[chat] = words[chat] or {}
  return words[chat]
end

--- Have the host look where the comments are, and whether they are addressed.
---@param chat string
local function check(chat)
  host.send_if_running('check_comments', { chat = chat })
end

--- Called with a new list of changes.
---@param chat string
---@param changes eca.Change[]
function M.listed(chat, changes)
  for _, change in ipairs(changes) do
    M.words(chat)[change.key] = nil
  end
  if #M.comments(chat) > 0 then
    check(chat)
  end
end

-- Comments ---------------------------------------------------------------------------------------

--- The comments that are for a chat.
---@param chat string
---@return eca.Comment[]
function M.comments(chat)
  return mirror.chat(chat).comments
end

--- Call a function when the comments of a chat have changed.
---@param listener fun(chat: string)
function M.on_changed(listener)
  listeners[#listeners + 1] = listener
end

--- Show the comments of all chats in their files: one whose chat is not open is in all of them.
local function draw()
  local known, all = {}, {} ---@type table<string, true>, eca.Comment[]
  for _, chat in ipairs(buffers.ids()) do
    for _, comment in ipairs(M.comments(chat)) do
      all[#all + 1] = not known[comment.id] and comment or nil
      known[comment.id] = true
    end
  end
  comment_marks.set(all)
end

---@param chat string
---@param comments eca.Comment[]
local function set(chat, comments)
  local unsent = vim.tbl_filter(function(comment)
    return comment.state == 'unsent'
  end, comments)
  mirror.set(chat, 'comments', comments)
  mirror.set(chat, 'unsent_comments', #unsent)
  drafts.changed(chat)
  winbar.refresh(chat)
  draw()
  for _, listener in ipairs(listeners) do
    listener(chat)
  end
end

--- Op `comments`.
---@param chat string
---@param comments eca.Comment[]
---@param stale boolean there are some: the host is to look where they are
function M.received(chat, comments, stale)
  if stale then
    return check(chat)
  end
  for _, comment in ipairs(comments) do
    comment.kept = true
  end
  set(chat, comments)
end

---@param chat string
---@param comment eca.Comment
---@return table<string, any>
local function payload_of(chat, comment)
  return {
    chat = chat,
    id = comment.id,
    text = comment.text,
    paths = comment.paths,
    line = comment.line,
    count = comment.count,
    before = comment.before,
    subject = comment.subject,
    turn = comment.turn,
  }
end

--- Keep a comment; one without a text is removed.
---@param chat string
---@param comment eca.Comment
local function put(chat, comment)
  local kept = vim.tbl_filter(function(other)
    return other.id ~= comment.id
  end, M.comments(chat))
  if comment.text:find('%S') then
    comment.state, comment.kept = 'unsent', nil
    kept[#kept + 1] = comment
  end
  set(chat, kept)
  host.send('comment', payload_of(chat, comment))
  check(chat)
end

--- The texts that no host has confirmed.
---@param chat string
---@return string
local function unconfirmed(chat)
  local texts = {} ---@type string[]
  for _, comment in ipairs(M.comments(chat)) do
    texts[#texts + 1] = not comment.kept and comment.text or nil
  end
  return table.concat(texts, '\n')
end

--- Called when the host is gone: it may not have saved the last ones.
function M.host_gone()
  for _, chat in ipairs(buffers.ids()) do
    for _, comment in ipairs(M.comments(chat)) do
      if comment.state == 'unsent' then
        comment.kept = nil
        held_intents.add({ name = 'comment', payload = payload_of(chat, comment) })
      end
    end
  end
end

--- Ask for the text of a comment; an empty one removes it.
---@param chat string
---@param comment eca.Comment its text is offered
function M.ask(chat, comment)
  local name = sanitize.line(vim.fs.basename(comment.paths[1] or ''))
  local place = ('%s:%d'):format(name, comment.line)
  if vim.startswith(comment.subject, TURN) then
    place = ('turn %d'):format(comment.turn)
  elseif comment.subject ~= '' then
    place = name
  end
  local default = comment.text ~= '' and comment.text or nil
  choose.line({ prompt = ('Comment on %s: '):format(place), default = default }, function(text)
    if text then
      put(chat, vim.tbl_extend('force', comment, { text = text }))
    end
  end)
end

--- Is a comment on a place: on a line of it, or on all that it is?
---@param comment eca.Comment
---@param place eca.CommentPlace
---@return boolean
function M.is_on(comment, place)
  if comment.subject ~= place.subject then
    return false
  elseif place.subject ~= '' then
    local is_turn = vim.startswith(place.subject, TURN)
    return comment.turn == place.turn and (is_turn or comment.paths[1] == place.paths[1])
  end
  local last = place.line + math.max(place.count, 1) - 1
  local own_last = comment.line + math.max(comment.count, 1) - 1
  local overlaps = comment.line <= last and place.line <= own_last
  return overlaps and paths.normalize(comment.paths[1]) == paths.normalize(place.paths[1])
end

--- What a comment on a change, or on the row of a turn, is about.
---@param change eca.Change
---@param line integer its current line
---@param files? string[] of the turn
---@return eca.CommentPlace
function M.place(change, line, files)
  local place = { paths = files or { change.path }, line = line, count = 0, turn = change.turn }
  if change.kind == 'lines' then
    place.subject, place.count, place.before = '', change.count, change.before
  elseif change.kind == 'turn' then
    local name = change.prompt ~= '' and ('“%s”'):format(change.prompt)
    place.subject = TURN .. (name or ('number %d'):format(change.turn))
  else
    place.subject = change.text
  end
  return place
end

--- Ask for a comment on a place: for the text of the one that is there already, if there is one.
---@param chat string
---@param place eca.CommentPlace
function M.on_place(chat, place)
  for _, comment in ipairs(M.comments(chat)) do
    if M.is_on(comment, place) then
      return M.ask(chat, comment)
    end
  end
  made = made + 1
  local id = ('%d-%d-%d'):format(vim.fn.getpid(), vim.uv.hrtime(), made)
  local fresh = { id = id, text = '', state = 'unsent' }
  M.ask(chat, vim.tbl_extend('force', place, fresh))
end

--- Ask for a comment on lines of a file as they stand in its buffer, for the current chat; an empty
--- one removes it. In a buffer without a file, or without a chat, a message says so.
---@param buf integer
---@param first integer 1-based
---@param last integer `first - 1`: lines that stood before `first` are gone
---@param before? string[] what stood there before a tool changed it; nil: no tool did
---@return boolean asked
function M.on_lines(buf, first, last, before)
  local path, chat = paths.of_buffer(buf), windows.current_chat()
  if not path or not chat then
    notify.info(path and 'no chat to comment for: open one first' or 'no file to comment on here')
    return false
  end
  local place = { paths = { path }, line = first, count = last - first + 1, before = before }
  place.subject, place.turn = '', 0
  M.on_place(chat, place)
  return true
end

--- The number of unsent comments of a chat, in words; nil if there is none.
---@param chat string
---@return string?
function M.count_unsent(chat)
  local count = mirror.chat(chat).unsent_comments
  if count > 0 then
    return count == 1 and '1 comment' or ('%d comments'):format(count)
  end
end

--- Send the comments of a chat that were not sent yet as one prompt; if there are none, those that
--- are still open.
---@param chat string
function M.send(chat)
  host.ask('send_comments', { chat = chat }, function(answer)
    if answer then
      local text = field.with_ranges(buffers.ensure(chat).input, answer.text)
      local typed = answer.typed .. text:sub(#answer.text + 1)
      input.send(chat, text, { tokens_in = typed })
      local count = answer.count == 1 and '1 comment' or ('%d comments'):format(answer.count)
      notify.info(('%s sent as a prompt'):format(count))
    end
  end)
end

drafts.add_source(unconfirmed)

local group = vim.api.nvim_create_augroup('eca.review.notes', {})
vim.api.nvim_create_autocmd('User', {
  group = group,
  pattern = 'EcaTurnFinished',
  callback = function(event)
    if #M.comments(event.data.chat) > 0 then
      check(event.data.chat)
    end
  end,
})
vim.api.nvim_create_autocmd('User', {
  group = group,
  pattern = 'EcaChatClosed',
  callback = function(event)
    vim.schedule(function()
      if not buffers.get(event.data.chat) then
        words[event.data.chat] = nil
        vim.tbl_map(check, buffers.ids()) -- they are for the others now
        draw()
      end
    end)
  end,
})

return M
