--- Files that the user writes: what changed in them while a command of the agent ran is his.
---
--- Rules kept here:
--- - The host is told of each before and after it is written, and is never started for it.
--- - What an autocommand writes tells no other autocommand: that is seen afterwards.
local group = vim.api.nvim_create_augroup('eca.written', {})

---@class eca.Saved
---@field tick integer `b:changedtick` when it was looked at
---@field count integer how often the buffer was written

local saved = {} ---@type table<integer, eca.Saved> by buffer

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
  local normal = require('eca.paths').normalize(path)
  require('eca.host').mention('wrote', { path = normal, state = state })
end

--- A file is being written no more. Vim says so, too, when nothing was written.
---@param path string
local function finish(path)
  local it = begun[path]
  begun[path] = nil
  if it then
    saved[it.buf] = nil
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

--- Look whether a buffer was written since it was looked at last.
---@param buf integer
local function look(buf)
  local tick, known = vim.api.nvim_buf_get_changedtick(buf), saved[buf]
  if known and (known.tick == tick or vim.bo[buf].modified) then
    return
  end
  local count = vim.fn.undotree(buf).save_last
  saved[buf] = { tick = tick, count = count }
  if known and count > known.count then
    tell(vim.api.nvim_buf_get_name(buf), 'written')
  end
end

vim.api.nvim_create_autocmd('SafeState', {
  group = group,
  callback = function()
    if vim.fn.mode() ~= 'r' then -- not while Vim asks in the middle of a write
      vim.iter(vim.tbl_keys(begun)):each(finish)
    end
    for _, buf in ipairs(vim.api.nvim_list_bufs()) do
      if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' then
        look(buf)
      end
    end
  end,
})

vim.api.nvim_create_autocmd('BufUnload', {
  group = group,
  callback = function(event)
    saved[event.buf] = nil
  end,
})
