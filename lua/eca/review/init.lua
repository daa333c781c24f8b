--- Lists the changes of a chat's tools in the quickfix list, to keep, revert or comment on them.
---
--- Rules kept here:
--- - It is an ordinary quickfix list; its lines move with edits of the files. Our keys work only
---   while the quickfix window shows it.
--- - Actions work on the change under the cursor, in the list or in a file. On the row of a turn
---   they work on the whole turn.
--- - The user's notes on changes are kept separately and outlive the list.
local after_undo = require('eca.review.after_undo')
local buffers = require('eca.chat.buffers')
local field = require('eca.input.field')
local host = require('eca.host')
local hunks = require('eca.review.hunks')
local input = require('eca.input')
local notes = require('eca.review.notes')
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')
local paths = require('eca.files.paths')
local return_window = require('eca.ui.return_window')
local rows = require('eca.review.rows')
local sanitize = require('eca.ui.sanitize')
local to_code = require('eca.window.to_code')
local undo = require('eca.review.undo')

local M = {}

local ROWS = 10

---@class eca.Review
---@field id integer of the quickfix list
---@field chat string
---@field changes table<string, eca.Change> by key, rows of turns included

---@class eca.ReviewItem of the quickfix list
---@field bufnr integer
---@field lnum integer
---@field text string
---@field user_data? any

---@class eca.Target
---@field change eca.Change
---@field line integer its current line

local review ---@type eca.Review?

---@param what table
---@return table
local function list(what)
  return vim.fn.getqflist(vim.tbl_extend('force', { id = review and review.id or 0 }, what))
end

--- Is our list the one that the quickfix window shows?
---@return boolean
function M.is_shown()
  return review ~= nil and vim.fn.getqflist({ id = 0 }).id == review.id
end

--- Map our keys in the quickfix buffer.
local function attach()
  local found = vim.fn.getqflist({ qfbufnr = 0 }).qfbufnr
  if found ~= 0 and vim.b[found].eca_review == nil then
    vim.b[found].eca_review = true
    others.announce(found, 'changes')
  end
end

local function open_window()
  to_code.uncover()
  vim.cmd.copen({ count = ROWS, mods = { split = 'botright' } })
  attach()
end

---@param chat string
---@param changes eca.Change[]
---@param turn? integer list only this one
---@param asked eca.Asked
local function show(chat, changes, turn, asked)
  local ordered = rows.order(changes, notes.listed(chat, changes, turn))
  if #ordered == 0 then
    notify.info('no changes left to review')
    return
  elseif not return_window.may_focus(asked, 'the list of changes') then
    return
  end
  review = { id = 0, chat = chat, changes = {} }
  local items = {} ---@type table[]
  for _, change in ipairs(ordered) do
    review.changes[change.key] = change
    items[#items + 1] = rows.item(change, notes.of(chat))
  end
  vim.fn.setqflist({}, ' ', { title = rows.title(), items = items })
  review.id = vim.fn.getqflist({ id = 0 }).id
  open_window()
  local first = math.min(2, #items)
  vim.fn.setqflist({}, 'a', { id = review.id, title = rows.title(), idx = first })
  vim.api.nvim_win_set_cursor(0, { first, 0 })
  local unsent = notes.count_unsent(chat)
  if unsent then
    notify.info(('%s not sent yet'):format(unsent))
  end
end

--- List the changes of a chat, or of one of its turns.
---@param chat string
---@param turn? integer
function M.open(chat, turn)
  local asked = return_window.asked()
  host.ask('changes', { chat = chat, turn = turn }, function(changes)
    if changes then
      show(chat, changes, turn, asked)
    end
  end)
end

---@param found eca.ReviewItem
---@return eca.Change?
local function change_of(found)
  return review and review.changes[(found.user_data or {}).change]
end

---@param found eca.ReviewItem
---@param change eca.Change
---@return boolean
local function is_under_cursor(found, change)
  local line = vim.api.nvim_win_get_cursor(0)[1]
  local last = rows.last_line(change, found.lnum)
  return found.bufnr == vim.api.nvim_get_current_buf() and line >= found.lnum and line <= last
end

--- The changes under the cursor: one, or all of a turn if the cursor is on the turn's row.
---@return eca.Target[] empty: there is none
---@return eca.Change? turn the turn's row under the cursor
local function under_cursor()
  local items = list({ items = 0 }).items ---@type eca.ReviewItem[]
  local in_list = vim.bo.buftype == 'quickfix' and M.is_shown()
  local row = in_list and items[vim.api.nvim_win_get_cursor(0)[1]] or nil
  local at = row and change_of(row)
  local turn = at and at.kind == 'turn' and at or nil
  local targets = {} ---@type eca.Target[]
  for _, found in ipairs(items) do
    local change = change_of(found)
    if change and change.kind ~= 'turn' then
      local here = found == row or (turn and turn.turn == change.turn)
      if here or (not row and is_under_cursor(found, change)) then
        targets[#targets + 1] = { change = change, line = found.lnum }
      end
    end
  end
  return targets, turn
end

--- The changes under the cursor; shows a message if there are none.
---@param turn_counts? boolean the row of a turn is enough
---@return eca.Target[]
---@return eca.Change? turn the turn's row under the cursor
local function targets_here(turn_counts)
  if not review or list({ id = 0 }).id == 0 then
    notify.info('open the list first with :Eca changes')
    return {}
  end
  local targets, turn = under_cursor()
  if #targets == 0 and not (turn and turn_counts) then
    notify.info('no change under the cursor')
  end
  return targets, turn
end

--- Update the list's rows with the notes on its changes.
---@param chat string only if the list is of this chat
---@param lines? table<string, integer> where changes are now, by key
local function refresh(chat, lines)
  if not review or review.chat ~= chat or list({ id = 0 }).id == 0 then
    return
  end
  local items = list({ items = 0 }).items ---@type eca.ReviewItem[]
  for _, found in ipairs(items) do
    local change = change_of(found)
    if change then
      found.text = rows.text(change, notes.of(chat))
      found.lnum = lines and lines[change.key] or found.lnum
      found.end_lnum = rows.last_line(change, found.lnum) -- Neovim moves only `lnum`
    end
  end
  local window = vim.fn.getqflist({ winid = 0 }).winid
  local view = window ~= 0 and vim.api.nvim_win_get_cursor(window)
  vim.fn.setqflist({}, 'r', { id = review.id, title = rows.title(), items = items })
  if view then
    vim.api.nvim_win_set_cursor(window, view)
  end
end

---@param chat string
---@param word string what was done
---@param subjects { change: eca.Change }[]
local function note(chat, word, subjects)
  for _, subject in ipairs(subjects) do
    notes.of(chat).words[subject.change.key] = word
  end
  refresh(chat)
end

undo.on_undone(function(chat, plan, files)
  if review and review.chat == chat then
    after_undo.follow(review, plan, files, function(lines)
      refresh(chat, lines)
    end)
  end
end)

--- Keep changes: they are not listed again.
function M.keep()
  local targets = targets_here()
  local keys = vim.tbl_map(function(target)
    return target.change.key
  end, targets)
  if review and #keys > 0 then
    host.send('keep', { chat = review.chat, keys = keys })
    note(review.chat, 'kept', targets)
  end
end

---@param target eca.Target
---@return boolean reverted
local function revert_lines(target)
  local worked, result = pcall(hunks.revert, target.change, target.line)
  if worked and result then
    return true
  end
  local place = ('%s:%d'):format(paths.short(target.change.path), target.line)
  local why = worked and 'the change was not found' or tostring(result)
  notify.warn(('%s: %s'):format(place, why))
  return false
end

--- The files to restore as a whole: those that were created, deleted or moved, or whose lines are
--- not known. Changed lines under the cursor take precedence over their file.
---@param targets eca.Target[]
---@param turn? eca.Change
---@return string[] paths
local function whole_files(targets, turn)
  local files, only_files = {}, true ---@type string[], boolean
  for _, target in ipairs(targets) do
    local change = target.change
    if change.kind == 'lines' then
      only_files = false
    elseif not vim.list_contains(files, change.path) then
      files[#files + 1] = change.path
    end
  end
  table.sort(files)
  return (turn or only_files) and files or {}
end

--- The names of the files of some changes.
---@param targets eca.Target[]
---@return string[]
local function files_of(targets)
  local names = {} ---@type string[]
  for _, target in ipairs(targets) do
    local name = paths.short(target.change.path)
    if name ~= '' and not vim.list_contains(names, name) then
      names[#names + 1] = name
    end
  end
  return names
end

--- Revert changes in the buffers of their files. A file that was created, deleted or moved is
--- restored on disk, after a confirmation.
function M.revert()
  local targets, turn = targets_here()
  local whole, done = whole_files(targets, turn), {} ---@type string[], eca.Target[]
  hunks.begin(vim.tbl_map(function(target)
    return target.change
  end, targets))
  for index = #targets, 1, -1 do -- from below, so that the lines above do not move
    local change = targets[index].change
    local is_lines = change.kind == 'lines' and not vim.list_contains(whole, change.path)
    if is_lines and revert_lines(targets[index]) then
      done[#done + 1] = targets[index]
    end
  end
  if review and #done > 0 then
    note(review.chat, 'reverted', done)
    local names = files_of(done)
    local where = #names == 1 and names[1] or ('%d files'):format(#names)
    notify.info(('reverted in %s (not written); u in its buffer undoes it'):format(where))
  end
  if review and #whole > 0 then
    undo.open(review.chat, targets[#targets].change.turn, whole)
  end
end

--- Ask for a comment on a change or a turn; an empty one removes it.
function M.comment()
  local targets, turn = targets_here(true)
  local target, chat = targets[1], review and review.chat
  if turn then -- the names of its files are the subject
    local subject = { text = table.concat(files_of(targets), ', ') }
    target = { change = vim.tbl_extend('force', turn, subject), line = 0 }
  end
  if not target or not chat then
    return
  end
  local key = target.change.key
  local name = sanitize.line(vim.fs.basename(target.change.path))
  local place = turn and key or ('%s:%d'):format(name, target.line)
  local before = notes.of(chat).comments[key]
  local options = { prompt = ('Comment on %s: '):format(place), default = before and before.text }
  require('eca.ui.choose').line(options, function(text)
    if text then
      local comment = { change = target.change, line = target.line, text = text }
      notes.comment(chat, key, text:find('%S') and comment or nil)
      refresh(chat)
    end
  end)
end

--- Send all comments as one prompt.
function M.send()
  local chat = review and review.chat
  if not chat or not notes.count_unsent(chat) then
    notify.info('no comments to send')
    return
  end
  local comments = notes.of(chat).comments
  for _, found in ipairs(list({ items = 0 }).items) do
    local comment = comments[(found.user_data or {}).change]
    if comment then
      comment.line = found.lnum -- the list moves with edits of the files
    end
  end
  local draft = buffers.ensure(chat).input
  input.send(chat, field.with_ranges(draft, notes.prompt(chat)), {})
  notes.sent(chat)
  note(chat, 'sent', vim.tbl_values(comments))
end

vim.api.nvim_create_autocmd('FileType', {
  group = vim.api.nvim_create_augroup('eca.review', {}),
  pattern = 'qf',
  callback = attach,
})

return M
