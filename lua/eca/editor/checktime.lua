--- Buffers of files that a tool changed on disk.
---
--- Rules kept here:
--- - A buffer without unsaved changes is read again, with its undo; one with unsaved changes is
---   never touched, and the user is told once until it is written or read again.
--- - Vim finds out what changed, but asks and prints nothing: its question is answered here.
--- - Checks come together, once nothing more arrives.
local conflicts = require('eca.editor.conflicts')
local files = require('eca.files')
local follow_agent = require('eca.editor.follow_agent')
local notify = require('eca.ui.notify')
local paths = require('eca.files.paths')
local reload = require('eca.editor.reload')

local M = {}

local DEBOUNCE_MS = 50

local TOLD = {
  conflict = '%s changed on disk, your edits stay; :Eca conflicts',
  deleted = '%s was %s, its buffer is kept',
}

local waiting = {} ---@type table<string, true>
local everything = false
local moves = {} ---@type table<string, string> where files that are waited for were moved to
local timer = nil ---@type uv.uv_timer_t?
local told = {} ---@type table<integer, true> buffers whose user knows

---@param new_path? string where a file that is not there any more was moved to
---@return string
local function fate_of(new_path)
  local moved = new_path and vim.uv.fs_stat(new_path)
  return moved and ('moved to %s'):format(paths.short(new_path)) or 'deleted on disk'
end

--- What becomes of a buffer whose file changed. Called while Vim asks that very question.
---@param buf integer
---@param reason string as in `v:fcs_reason`
---@param new_path? string where its file was moved to
local function decide(buf, reason, new_path)
  local fate = reason == 'deleted' and fate_of(new_path) or nil
  vim.v.fcs_choice = reason == 'changed' and 'reload' or ''
  if reason == 'conflict' then
    conflicts.note(buf)
  end
  follow_agent.gone(buf, fate)
  if TOLD[reason] and not told[buf] then
    told[buf] = true
    local name = paths.short(vim.api.nvim_buf_get_name(buf))
    notify.warn(TOLD[reason]:format(name, fate))
  end
end

--- Was a buffer's file made after the buffer? Vim asks about that in a dialog, and no autocommand
--- can answer; only |:file| tells.
---@param buf integer
---@return boolean
local function came_later(buf)
  local about = vim.api.nvim_buf_call(buf, function()
    return vim.fn.execute('file')
  end)
  local new = about:find(vim.fn.gettext('[New]'), 1, true)
  return new ~= nil and vim.uv.fs_stat(vim.api.nvim_buf_get_name(buf)) ~= nil
end

---@param buf integer
---@param new_path? string where its file was moved to
local function check(buf, new_path)
  if not vim.bo[buf].modified then
    told[buf] = nil
  end
  if came_later(buf) then
    if vim.bo[buf].modified then
      decide(buf, 'conflict')
    else
      conflicts.take(buf)
    end
    return
  end
  local answer = vim.api.nvim_create_autocmd('FileChangedShell', {
    buffer = buf,
    callback = function()
      decide(buf, vim.v.fcs_reason, new_path)
    end,
  })
  reload.undoably(function()
    files.check_time(buf)
  end)
  vim.api.nvim_del_autocmd(answer)
end

local function check_all()
  local named, all, ends = waiting, everything, moves
  waiting, everything, moves = {}, false, {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local file = vim.api.nvim_buf_is_loaded(buf) and paths.of_buffer(buf)
    local fault = file and files.fault(file)
    if fault and named[file] then
      notify.warn(fault)
    elseif file and not fault and (all or named[file]) then
      check(buf, ends[file])
    end
  end
end

--- Files changed on disk; none named means that any may have.
---@param changed string[] absolute
---@param moved? [string, string] where one of them was moved from and to
function M.files(changed, moved)
  everything = everything or #changed == 0
  for _, path in ipairs(changed) do
    waiting[paths.normalize(path)] = true
  end
  if moved then
    moves[paths.normalize(moved[1])] = moved[2]
  end
  timer = timer or assert(vim.uv.new_timer())
  timer:start(DEBOUNCE_MS, 0, vim.schedule_wrap(check_all))
end

return M
