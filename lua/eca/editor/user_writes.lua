--- Files that the user writes: what changed in them while a command of the agent ran is his.
---
--- Rules kept here:
--- - The host is told of each before and after it is written, and is never started for it.
--- - What an autocommand writes tells no other autocommand: that is seen afterwards, in the buffers
---   whose text has changed. However many others are loaded costs nothing.
local host = require('eca.host')
local paths = require('eca.files.paths')

local group = vim.api.nvim_create_augroup('eca.editor.user_writes', {})

local saves = {} ---@type table<integer, integer> how often a buffer was written, by buffer
local changed = {} ---@type table<integer, true> buffers whose text changed since the last look

---@class eca.Begun
---@field buf integer
---@field was string what told the file from later ones

local begun = {} ---@type table<string, eca.Begun> what is being written, by path

---@param path string
---@return string
local function sight(path)
  local stat = vim.uv.fs_stat(path)
  return stat and vim.inspect({ stat.ino, stat.size, stat.mtime, stat.ctime }) or ''
end

---@param path string
---@param state 'begun'|'written'|'given_up'
local function tell(path, state)
  local normal = paths.normalize(path)
  host.mention('wrote', { path = normal, state = state })
end

--- A file is being written no more. Vim says so, too, when nothing was written.
---@param path string
local function finish(path)
  local it = begun[path]
  begun[path] = nil
  if it and saves[it.buf] then
    saves[it.buf] = vim.fn.undotree(it.buf).save_last
  end
  tell(path, it and it.was == sight(path) and 'given_up' or 'written')
end

vim.api.nvim_create_autocmd({ 'BufWritePre', 'FileWritePre', 'FileAppendPre' }, {
  group = group,
  callback = function(event)
    begun[event.match] = { buf = event.buf, was = sight(event.match) }
    tell(event.match, 'begun')
  end,
})

vim.api.nvim_create_autocmd({ 'BufWritePost', 'FileWritePost', 'FileAppendPost' }, {
  group = group,
  callback = function(event)
    finish(event.match)
  end,
})

--- Note which changes of a file's buffer there are from now on.
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

--- Look whether a buffer that was changed has been written since.
---@param buf integer
local function look(buf)
  if vim.bo[buf].modified then
    return
  end
  local count = vim.fn.undotree(buf).save_last
  if count > saves[buf] then
    tell(vim.api.nvim_buf_get_name(buf), 'written')
  end
  saves[buf], changed[buf] = count, nil
end

vim.api.nvim_create_autocmd('SafeState', {
  group = group,
  callback = function()
    if vim.fn.mode() ~= 'r' then -- not while Vim asks in the middle of a write
      vim.iter(vim.tbl_keys(begun)):each(finish)
    end
    vim.iter(vim.tbl_keys(changed)):each(look)
  end,
})

vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile', 'BufEnter' }, {
  group = group,
  callback = function(event)
    watch(event.buf)
  end,
})

vim.iter(vim.api.nvim_list_bufs()):each(watch)
