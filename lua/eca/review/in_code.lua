--- Reviews the changes of a chat in the files themselves: shows what is not reviewed, goes from
--- change to change, and says which one is under the cursor.
---
--- Rules kept here:
--- - One chat is reviewed at a time, until the user ends it. Buffers show its changes as they are
---   loaded; files are opened only where the user goes.
--- - What the host says is shown in a buffer with the same lines. After an edit, and if the lines
---   differ, the host is asked again.
local code_window = require('eca.window.code_window')
local files = require('eca.files')
local keys = require('eca.ui.keys')
local marks = require('eca.review.hunk_marks')
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')
local paths = require('eca.files.paths')
local return_window = require('eca.ui.return_window')
local to_code = require('eca.window.to_code')
local unreviewed = require('eca.review.unreviewed')

local M = {}

local chat ---@type string? that is reviewed
local group ---@type integer? autocommands while one is
local asked_at = {} ---@type table<integer, integer> tick of a buffer for which the host was asked

--- A change that the user can go to.
---@class eca.ChangePlace
---@field path string
---@field line integer 1-based
---@field buf? integer if it is loaded

--- Show the changes of a buffer's file, if it has some.
---@param buf integer
local function show(buf)
  local path = chat and vim.api.nvim_buf_is_loaded(buf) and paths.of_buffer(buf)
  local changes = path and unreviewed.of(chat)[path]
  if not path or not changes then
    return marks.clear(buf)
  end
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  if not marks.set(buf, changes) and asked_at[buf] ~= tick then
    asked_at[buf] = tick
    unreviewed.ask_soon(chat, path)
  end
end

--- Show the changes of all loaded files, or of one.
---@param changed string
---@param path? string normalized
unreviewed.on_changed(function(changed, path)
  if changed ~= chat then
    return
  end
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and (not path or paths.of_buffer(buf) == path) then
      show(buf)
    end
  end
end)

--- Ask again what a file has that is not reviewed, after an edit of its buffer.
---@param buf integer
local function edited(buf)
  local path = paths.of_buffer(buf)
  local changes = chat and path and unreviewed.of(chat)[path]
  if changes and asked_at[buf] ~= vim.api.nvim_buf_get_changedtick(buf) then
    asked_at[buf] = vim.api.nvim_buf_get_changedtick(buf)
    unreviewed.ask_soon(chat, path)
  end
end

--- Follow what happens to buffers and files.
local function watch()
  if group then
    return
  end
  group = vim.api.nvim_create_augroup('eca.review.in_code', {})
  ---@param events string[]
  ---@param call fun(event: table)
  ---@param pattern? string[]
  local function on(events, call, pattern)
    vim.api.nvim_create_autocmd(events, { group = group, pattern = pattern, callback = call })
  end
  on({ 'TextChanged', 'InsertLeave', 'BufWritePost' }, function(event)
    edited(event.buf)
  end)
  on({ 'BufReadPost', 'BufWinEnter', 'FileChangedShellPost' }, function(event)
    show(event.buf)
  end)
  on({ 'BufUnload' }, function(event)
    marks.clear(event.buf)
    asked_at[event.buf] = nil
  end)
  on({ 'User' }, function(event)
    if event.data.chat == chat then
      unreviewed.ask_soon(event.data.chat)
    end
  end, { 'EcaFileChanged', 'EcaTurnFinished' })
end

--- End the review: nothing of it is shown any more. What is not reviewed stays known.
function M.hide()
  if group then
    vim.api.nvim_del_augroup_by_id(group)
  end
  chat, group, asked_at = nil, nil, {}
  vim.tbl_map(marks.clear, marks.buffers())
end

--- The chat that is reviewed.
---@return string?
function M.chat()
  return chat
end

--- The changes that the user can go to, file by file from above. Files that are gone, and those
--- without lines, are none of them.
---@return eca.ChangePlace[]
---@return integer elsewhere the number of the others
local function all_places()
  local found, elsewhere = {}, 0 ---@type eca.ChangePlace[], integer
  for path, changes in pairs(unreviewed.of(chat or '')) do
    local buf = paths.buffer_of(path)
    local rows = {} ---@type table<string, integer>
    for _, mark in ipairs(buf and marks.all(buf) or {}) do
      rows[mark.change.key] = marks.rows(buf --[[@as integer]], mark)
    end
    for _, change in ipairs(changes) do
      if change.kind == 'deleted' or change.kind == 'other' then
        elsewhere = elsewhere + 1
      else
        local line = rows[change.key] and rows[change.key] + 1 or change.line
        found[#found + 1] = { path = path, line = line, buf = buf }
      end
    end
  end
  table.sort(found, function(one, other)
    return one.path == other.path and one.line < other.line or one.path < other.path
  end)
  return found, elsewhere
end

---@param count integer
---@param what string
---@return string
local function counted(count, what)
  return ('%d %s%s'):format(count, what, count == 1 and '' or 's')
end

--- What keeps or reverts the change under the cursor: the user's keys, else the command.
---@return string
local function how()
  local keep, revert = keys.of(0, 'n', 'ChangeKeep'), keys.of(0, 'n', 'ChangeRevert')
  if keep and revert then
    return ('%s keeps, %s reverts'):format(keep, revert)
  end
  return ':Eca changes keep or revert'
end

--- Take the user to a window for files, unless they are in one.
local function enter_code()
  if not code_window.is_code(vim.api.nvim_get_current_win()) then
    to_code.enter()
  end
end

--- Take the user from a window for files to a change.
---@param place eca.ChangePlace
---@return boolean there
local function go_to(place)
  local win = place.buf and vim.fn.bufwinid(place.buf) or -1
  if place.buf == vim.api.nvim_get_current_buf() then
    vim.cmd("normal! m'")
  elseif win ~= -1 then
    others.go_to(win)
  else
    local fault = files.show(place.path)
    if fault then
      notify.warn(fault)
      return false
    end
  end
  local last = vim.api.nvim_buf_line_count(0)
  vim.api.nvim_win_set_cursor(0, { math.max(1, math.min(place.line, last)), 0 })
  vim.cmd('normal! zv')
  return true
end

--- The change that comes next after the cursor.
---@param found eca.ChangePlace[]
---@param direction 1|-1
---@param here? boolean one at the cursor counts
---@return integer
local function next_to(found, direction, here)
  local path = paths.of_buffer(vim.api.nvim_get_current_buf()) or ''
  local line = vim.api.nvim_win_get_cursor(0)[1]
  local first, last = 1, #found
  if direction < 0 then
    first, last = last, first
  end
  for number = first, last, direction do
    local place = found[number]
    local is_same = place.path == path
    local away = (place.line - line) * direction
    local is_next = is_same and (away > 0 or here and away == 0)
    if is_next or not is_same and (place.path > path) == (direction > 0) then
      return number
    end
  end
  return first
end

--- What there is to review, in words.
---@param found eca.ChangePlace[]
---@param elsewhere integer
---@return string
local function summary(found, elsewhere)
  if #found == 0 then
    local rest = ('%s not shown in files: :Eca changes lists them'):format(
      counted(elsewhere, 'change')
    )
    return elsewhere > 0 and rest or 'nothing left to review'
  end
  local by_path = {} ---@type table<string, true>
  for _, place in ipairs(found) do
    by_path[place.path] = true
  end
  local in_files = counted(vim.tbl_count(by_path), 'file')
  local more = elsewhere > 0 and (', %d in :Eca changes'):format(elsewhere) or ''
  return ('%s in %s to review%s'):format(counted(#found, 'change'), in_files, more)
end

--- Go to the next or previous change, over all files; after the last one comes the first.
---@param direction 1|-1
function M.jump(direction)
  local found, elsewhere = all_places()
  if #found == 0 then
    return notify.info(summary(found, elsewhere))
  end
  enter_code()
  local number = next_to(found, direction)
  if go_to(found[number]) then
    notify.info(('%d of %d to review  %s'):format(number, #found, how()))
  end
end

--- Review a chat: show what is not reviewed, and go to the first change, those of the current file
--- first.
---@param id string
---@param asked? eca.Asked the user has asked for it
function M.open(id, asked)
  asked = asked or return_window.asked()
  chat = id
  watch()
  unreviewed.ask(id, nil, function()
    local found, elsewhere = all_places()
    if chat ~= id then
      return
    elseif #found + elsewhere == 0 then
      M.hide()
    elseif #found > 0 then
      if not return_window.may_focus(asked, 'the first change') then
        return
      end
      enter_code()
      go_to(found[next_to(found, 1, true)])
    end
    notify.info(summary(found, elsewhere))
  end)
end

--- The changes under the cursor, if the current file is under review.
---@return eca.Target[]? targets nil: it is not
function M.here()
  local buf = vim.api.nvim_get_current_buf()
  if not chat or #marks.all(buf) == 0 then
    return nil
  end
  return vim.tbl_map(function(mark)
    return { change = mark.change, line = marks.rows(buf, mark) + 1, is_there = true }
  end, marks.at(buf, vim.api.nvim_win_get_cursor(0)[1] - 1))
end

vim.api.nvim_create_autocmd('User', {
  group = vim.api.nvim_create_augroup('eca.review.chat', {}),
  pattern = 'EcaChatClosed',
  callback = function(event)
    if event.data.chat == chat then
      M.hide()
    end
  end,
})

return M
