--- Lists the changes of a chat's tools in the quickfix list, to keep, revert or comment on them,
--- there or in the files.
---
--- Rules kept here:
--- - It is an ordinary quickfix list; its lines move with edits of the files. Our keys work only
---   while the quickfix window shows it.
--- - Actions work on the change under the cursor, in the list or in a file. On the row of a turn
---   they work on the whole turn.
--- - The user's notes on changes are kept separately and outlive the list.
local after_undo = require('eca.review.after_undo')
local host = require('eca.host')
local hunks = require('eca.review.hunks')
local in_code = require('eca.review.in_code')
local notes = require('eca.review.notes')
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')
local paths = require('eca.files.paths')
local return_window = require('eca.ui.return_window')
local rows = require('eca.review.rows')
local to_code = require('eca.window.to_code')
local undo = require('eca.review.undo')
local unreviewed = require('eca.review.unreviewed')
local windows = require('eca.window')

local M = {}

local ROWS = 10

---@class eca.Review
---@field id integer of the quickfix list
---@field chat string
---@field listed eca.Change[] as the host has listed them
---@field changes table<string, eca.Change> by key, rows of our own included

---@class eca.ReviewItem of the quickfix list
---@field bufnr integer
---@field lnum integer
---@field text string
---@field user_data? any

---@class eca.Target
---@field change eca.Change
---@field line integer its current line
---@field is_there? boolean it is surely at that line

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
  others.split_by('copen', { count = ROWS, mods = { split = 'botright' } })
  attach()
end

---@param list_of eca.Review its changes become these
---@param ordered eca.Change[]
---@return table[] items of the quickfix list
local function items_of(list_of, ordered)
  local items = {} ---@type table[]
  list_of.changes = {}
  for _, change in ipairs(ordered) do
    list_of.changes[change.key] = change
    items[#items + 1] = rows.item(change, notes.words(list_of.chat))
  end
  return items
end

---@param chat string
---@param changes eca.Change[]
---@param asked eca.Asked
local function show(chat, changes, asked)
  notes.listed(chat, changes)
  local ordered = rows.order(changes, notes.comments(chat))
  if #ordered == 0 then
    notify.info('no changes left to review')
    return
  elseif not return_window.may_focus(asked, 'the list') then
    return
  end
  review = { id = 0, chat = chat, listed = changes, changes = {} }
  local items = items_of(review, ordered)
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
      show(chat, changes, asked)
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
---@return eca.Comment? comment whose row is under the cursor
local function under_cursor()
  local items = list({ items = 0 }).items ---@type eca.ReviewItem[]
  local in_list = vim.bo.buftype == 'quickfix' and M.is_shown()
  local row = in_list and items[vim.api.nvim_win_get_cursor(0)[1]] or nil
  local at = row and change_of(row)
  local turn = at and at.kind == 'turn' and at.turn > 0 and at or nil
  local targets = {} ---@type eca.Target[]
  for _, found in ipairs(items) do
    local change = change_of(found)
    if change and change.kind ~= 'turn' and change.kind ~= 'comment' then
      local here = found == row or (turn and turn.turn == change.turn)
      if here or (not row and is_under_cursor(found, change)) then
        targets[#targets + 1] = { change = change, line = found.lnum }
      end
    end
  end
  return targets, turn, at and at.comment
end

--- The changes under the cursor, of the list or of a file that is reviewed; shows a message if
--- there are none.
---@return eca.Target[]
---@return eca.Change? turn the turn's row under the cursor
---@return string? chat whose changes they are
local function targets_here()
  local targets, turn = in_code.here(), nil ---@type eca.Target[]?, eca.Change?
  local chat = targets and in_code.chat()
  if not targets then
    if not review or list({ id = 0 }).id == 0 then
      notify.info('open the list first with :Eca changes, or :Eca review')
      return {}
    end
    targets, turn = under_cursor()
    chat = review.chat
  end
  if #targets == 0 then
    notify.info('no change under the cursor')
  end
  return targets, turn, chat
end

--- Update the list's rows with the notes on its changes. The cursor stays on its row.
---@param chat string only if the list is of this chat
---@param lines? table<string, integer> where changes are now, by key
local function refresh(chat, lines)
  if not review or review.chat ~= chat or list({ id = 0 }).id == 0 then
    return
  end
  local window = vim.fn.getqflist({ winid = 0 }).winid
  local cursor = window ~= 0 and M.is_shown() and vim.api.nvim_win_get_cursor(window)
  local moved, before = {}, {} ---@type table<string, integer>, string?
  for row, found in
    ipairs(list({ items = 0 }).items --[[@as eca.ReviewItem[] ]])
  do
    local change = change_of(found)
    if change then
      moved[change.key] = change.kind ~= 'comment' and found.lnum or nil -- with edits of its file
      before[row] = change.key
    end
  end
  local items = items_of(review, rows.order(review.listed, notes.comments(chat)))
  local row = cursor and math.min(cursor[1], #items)
  for place, item in ipairs(items) do
    local key = item.user_data.change
    local change = review.changes[key]
    if item.lnum then
      item.lnum = lines and lines[key] or moved[key] or item.lnum
      item.end_lnum = rows.last_line(change, item.lnum) -- Neovim moves only `lnum`
    end
    row = cursor and before[cursor[1]] == key and place or row
  end
  vim.fn.setqflist({}, 'r', { id = review.id, title = rows.title(), items = items })
  if cursor and row > 0 then -- else nothing is left in the list
    vim.api.nvim_win_set_cursor(window, { row, cursor[2] })
  end
end

---@param chat string
---@param word string what was done
---@param subjects { change: eca.Change }[]
local function note(chat, word, subjects)
  for _, subject in ipairs(subjects) do
    for _, key in ipairs(unreviewed.keys(subject.change)) do
      notes.words(chat)[key] = word
    end
  end
  refresh(chat)
end

undo.on_undone(function(chat, plan, files)
  unreviewed.look_again(chat)
  if review and review.chat == chat then
    after_undo.follow(review, plan, files, function(lines)
      refresh(chat, lines)
    end)
  end
end)

---@param targets eca.Target[]
---@return eca.Change[]
local function changes_of(targets)
  return vim.tbl_map(function(target)
    return target.change
  end, targets)
end

--- Keep changes: they are reviewed, and not listed again.
function M.keep()
  local targets, _, chat = targets_here()
  if chat and #targets > 0 then
    unreviewed.keep(chat, changes_of(targets))
    note(chat, 'kept', targets)
  end
end

---@param target eca.Target
---@return boolean reverted
local function revert_lines(target)
  local worked, result = pcall(hunks.revert, target.change, target.line, target.is_there)
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
  local targets, turn, chat = targets_here()
  local whole, done = whole_files(targets, turn), {} ---@type string[], eca.Target[]
  hunks.begin(changes_of(targets))
  for index = #targets, 1, -1 do -- from below, so that the lines above do not move
    local change = targets[index].change
    local is_lines = change.kind == 'lines' and not vim.list_contains(whole, change.path)
    if is_lines and revert_lines(targets[index]) then
      done[#done + 1] = targets[index]
    end
  end
  if chat and #done > 0 then
    note(chat, 'reverted', done)
    unreviewed.look_again(chat)
    local names = files_of(done)
    local where = #names == 1 and names[1] or ('%d files'):format(#names)
    notify.info(('reverted in %s, not written yet; u there undoes it'):format(where))
  end
  if chat and #whole > 0 then
    undo.open(chat, targets[#targets].change.turn, whole)
  end
end

--- Ask for a comment on a change, a turn, or lines of a file; an empty one removes it.
---@param first? integer lines of a file (1-based); default: those of the change, or the cursor's
---@param last? integer
function M.comment(first, last)
  local here = not first and in_code.here() or {}
  local reviewed = in_code.chat()
  if reviewed and here[1] then
    return notes.on_place(reviewed, notes.place(here[1].change, here[1].line))
  end
  local in_list = vim.bo.buftype == 'quickfix' and M.is_shown()
  local targets, turn, comment = {}, nil, nil ---@type eca.Target[], eca.Change?, eca.Comment?
  if not first and review and list({ id = 0 }).id ~= 0 then
    targets, turn, comment = under_cursor()
  end
  local chat, target = review and review.chat, targets[1]
  if chat and comment then
    notes.ask(chat, comment)
  elseif chat and turn then
    local files = vim.tbl_map(function(it)
      return it.change.path
    end, targets)
    notes.on_place(chat, notes.place(turn, 0, vim.fn.uniq(files)))
  elseif chat and target then
    notes.on_place(chat, notes.place(target.change, target.line))
  elseif in_list then
    notify.info('no change under the cursor')
  else
    local line = vim.api.nvim_win_get_cursor(0)[1]
    notes.on_lines(0, first or line, last or first or line)
  end
end

--- Send the comments as one prompt.
function M.send()
  local in_list = vim.bo.buftype == 'quickfix' and M.is_shown()
  local chat = in_list and review and review.chat or windows.current_chat()
  if chat then
    notes.send(chat)
  else
    notify.info('no comments to send')
  end
end

notes.on_changed(refresh)

vim.api.nvim_create_autocmd('FileType', {
  group = vim.api.nvim_create_augroup('eca.review', {}),
  pattern = 'qf',
  callback = attach,
})

return M
