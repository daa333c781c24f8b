--- Updates the buffers of files that a tool changed on disk.
---
--- Rules kept here:
--- - A buffer without unsaved changes is reloaded and keeps its undo history. One with unsaved
---   changes is not changed before the user decides; one message says so, until the buffer is
---   written or reloaded.
--- - A reload can be undone, however long the file is; so can taking the version on the disk. The
---   user's value of Neovim's own limit, 'undoreload', is always restored.
--- - Vim finds out what changed, but neither asks nor prints: its question is answered here.
--- - Several checks are made together when no more changes arrive.
local files = require('eca.files')
local follow_agent = require('eca.editor.follow_agent')
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')
local paths = require('eca.files.paths')

local M = {}

--- Milliseconds without a new change before the buffers are checked.
local DEBOUNCE_MS = 50

local MESSAGES = {
  conflict = '%s changed on disk, your edits stay; :Eca conflicts',
  deleted = '%s was %s; its buffer is kept',
}

local changed_paths = {} ---@type table<string, true>
local everything = false -- any file may have changed
local moves = {} ---@type table<string, string> new paths of moved files
local timer = nil ---@type uv.uv_timer_t?
local reported = {} ---@type table<integer, true> buffers
--- Buffers with unsaved changes whose file changed: the user has not decided yet. Reading the file
--- again, or writing it, settles it.
local conflicting = {} ---@type table<integer, true>

--- Run a function that reloads buffers. A message says if it fails.
---@param read fun()
---@return boolean worked
local function undoably(read)
  local most = vim.o.undoreload
  vim.o.undoreload = -1
  local worked, fault = pcall(read)
  vim.o.undoreload = most
  if not worked then
    local line = tostring(fault):match('[^\n]*'):gsub('^%S+:%d+: ', '') -- without our file and line
    notify.warn(line)
  end
  return worked
end

--- The buffers for which the user has not decided yet.
---@return integer[] buffers
function M.conflicts()
  local buffers = vim.tbl_filter(function(buf)
    return vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].modified
  end, vim.tbl_keys(conflicting))
  table.sort(buffers)
  return buffers
end

--- Keep the buffer's version.
---@param buf integer
function M.keep(buf)
  conflicting[buf] = nil
end

--- Reload a buffer from disk over its unsaved changes; `u` brings them back.
---@param buf integer
function M.take(buf)
  local taken = undoably(function()
    files.reload(buf)
  end)
  conflicting[buf] = not taken or nil
end

--- Decide what Vim does with a buffer whose file changed. Called in `FileChangedShell`.
---@param buf integer
---@param reason string as in `v:fcs_reason`
---@param new_path? string where its file was moved to
local function decide(buf, reason, new_path)
  local moved = new_path and vim.uv.fs_stat(new_path) and 'moved to ' .. paths.short(new_path)
  local fate = reason == 'deleted' and (moved or 'deleted on disk') or nil
  vim.v.fcs_choice = reason == 'changed' and 'reload' or ''
  if reason == 'conflict' then
    conflicting[buf] = true
  end
  follow_agent.gone(buf, fate)
  if MESSAGES[reason] and not reported[buf] then
    reported[buf] = true
    local name = paths.short(vim.api.nvim_buf_get_name(buf))
    notify.warn(MESSAGES[reason]:format(name, fate))
  end
end

--- Was a buffer's file created after the buffer? Vim asks about that in a dialog that no
--- autocommand can answer. Only the output of |:file| shows it.
---@param buf integer
---@return boolean
local function is_created_later(buf)
  local about = vim.api.nvim_buf_call(buf, function()
    return vim.fn.execute('file')
  end)
  local new = about:find(vim.fn.gettext('[New]'), 1, true)
  return new ~= nil and vim.uv.fs_stat(vim.api.nvim_buf_get_name(buf)) ~= nil
end

--- Check one buffer now.
---@param buf integer
---@param new_path? string where its file was moved to
function M.now(buf, new_path)
  if not vim.bo[buf].modified then
    reported[buf] = nil
  end
  if is_created_later(buf) then
    if vim.bo[buf].modified then
      decide(buf, 'conflict')
    else
      M.take(buf)
    end
    return
  end
  local answer = vim.api.nvim_create_autocmd('FileChangedShell', {
    buffer = buf,
    callback = function()
      decide(buf, vim.v.fcs_reason, new_path)
    end,
  })
  undoably(function()
    files.check_time(buf)
  end)
  pcall(vim.api.nvim_del_autocmd, answer) -- gone if one of the user has wiped out the buffer
end

local function check_all()
  local named, all, new_paths = changed_paths, everything, moves
  changed_paths, everything, moves = {}, false, {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local file = vim.api.nvim_buf_is_loaded(buf) and paths.of_buffer(buf)
    local fault = file and files.fault(file)
    if fault and named[file] then
      notify.warn(fault)
    elseif file and not fault and (all or named[file]) then
      M.now(buf, new_paths[file])
    end
  end
end

--- Called when files changed on disk.
---@param changed string[] absolute; empty: any file may have changed
---@param moved? [string, string] old and new path of one of them
function M.files(changed, moved)
  everything = everything or #changed == 0
  for _, path in ipairs(changed) do
    changed_paths[paths.normalize(path)] = true
  end
  if moved then
    moves[paths.normalize(moved[1])] = moved[2]
  end
  timer = timer or assert(vim.uv.new_timer())
  timer:start(DEBOUNCE_MS, 0, others.soon(check_all))
end

vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost' }, {
  group = vim.api.nvim_create_augroup('eca.editor.checktime', {}),
  callback = function(event)
    conflicting[event.buf] = nil
  end,
})

return M
