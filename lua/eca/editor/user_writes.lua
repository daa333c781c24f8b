--- Reports files that the user writes, so that these changes are not attributed to the agent.
---
--- Rules kept here:
--- - The host gets a report before and after each write, and is never started for it.
--- - A write by an autocommand triggers no other autocommand. It is noticed afterwards, in the
---   buffers whose text has changed. The number of other buffers does not matter.
local host = require('eca.host')
local paths = require('eca.files.paths')

local M = {}

local group = vim.api.nvim_create_augroup('eca.editor.user_writes', {})

local saves = {} ---@type table<integer, integer> how often a buffer was written, by buffer
local changed = {} ---@type table<integer, true> buffers whose text changed since the last check

---@class eca.WriteBegun
---@field buf integer
---@field before string fingerprint of the file

local begun = {} ---@type table<string, eca.WriteBegun> by path
local by_agent = {} ---@type table<integer, true> buffers that are being written for an agent

---@param path string
---@return string
local function fingerprint(path)
  local stat = vim.uv.fs_stat(path)
  return stat and vim.inspect({ stat.ino, stat.size, stat.mtime, stat.ctime }) or ''
end

---@param path string
---@param state 'begun'|'written'|'given_up'
local function report(path, state)
  local normal = paths.normalize(path)
  host.send_if_running('wrote', { path = normal, state = state })
end

--- Called when a write has ended. Vim also triggers its event when nothing was written.
---@param path string
local function finish(path)
  local it = begun[path]
  begun[path] = nil
  if it and saves[it.buf] then
    saves[it.buf] = vim.fn.undotree(it.buf).save_last
  end
  report(path, it and it.before == fingerprint(path) and 'given_up' or 'written')
end

vim.api.nvim_create_autocmd({ 'BufWritePre', 'FileWritePre', 'FileAppendPre' }, {
  group = group,
  callback = function(event)
    begun[event.match] = { buf = event.buf, before = fingerprint(event.match) }
    report(event.match, 'begun')
  end,
})

vim.api.nvim_create_autocmd({ 'BufWritePost', 'FileWritePost', 'FileAppendPost' }, {
  group = group,
  callback = function(event)
    if not by_agent[event.buf] then
      finish(event.match)
    end
  end,
})

--- Run what follows a write for an agent, which is not reported as one of the user: plugins and
--- language servers learn that the file was saved.
---@param buf integer
---@return boolean worked
---@return any fault of a plugin; the file is written
function M.by_agent(buf)
  by_agent[buf] = true
  -- Else Neovim would obey modelines, in the user's buffer: the agent may have written one.
  local options = { buffer = buf, modeline = false }
  local worked, fault = pcall(vim.api.nvim_exec_autocmds, 'BufWritePost', options)
  by_agent[buf] = nil
  if saves[buf] then
    saves[buf], changed[buf] = vim.fn.undotree(buf).save_last, nil
  end
  return worked, fault
end

--- Watch a file's buffer for changes.
---@param buf integer
local function watch(buf)
  if saves[buf] or vim.bo[buf].buftype ~= '' or not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  local function note()
    changed[buf] = true
  end
  local function forget()
    saves[buf], changed[buf] = nil, nil
  end
  saves[buf] = vim.fn.undotree(buf).save_last
  vim.api.nvim_buf_attach(buf, false, { on_lines = note, on_reload = note, on_detach = forget })
end

--- Report a changed buffer if it has been written since.
---@param buf integer
local function check(buf)
  if vim.bo[buf].modified then
    return
  end
  local count = vim.fn.undotree(buf).save_last
  if count > saves[buf] then
    report(vim.api.nvim_buf_get_name(buf), 'written')
  end
  saves[buf], changed[buf] = count, nil
end

vim.api.nvim_create_autocmd('SafeState', {
  group = group,
  callback = function()
    if vim.fn.mode() ~= 'r' then -- not while Vim asks in the middle of a write
      vim.iter(vim.tbl_keys(begun)):each(finish)
    end
    vim.iter(vim.tbl_keys(changed)):each(check)
  end,
})

vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile', 'BufEnter' }, {
  group = group,
  callback = function(event)
    watch(event.buf)
  end,
})

vim.iter(vim.api.nvim_list_bufs()):each(watch)

return M
