--- Reloads files that changed on the disk into their buffers, and keeps those of which a buffer has
--- unsaved changes.
---
--- Rules kept here:
--- - A buffer with unsaved changes is not changed before the user decides.
--- - A reload can be undone, however long the file is; so can taking the version on the disk. The
---   user's value of Neovim's own limit, 'undoreload', is always restored.
local files = require('eca.files')
local notify = require('eca.ui.notify')

local M = {}

--- Run a function that reloads buffers. A message says if it fails.
---@param read fun()
---@return boolean worked
function M.undoably(read)
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

local found = {} ---@type table<integer, true>

--- Record that a buffer with unsaved changes has changed on disk. It is settled when the user reads
--- the file again or writes it.
---@param buf integer
function M.note(buf)
  found[buf] = true
  vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost' }, {
    buffer = buf,
    once = true,
    callback = function()
      found[buf] = nil
    end,
  })
end

--- The buffers for which the user has not decided yet.
---@return integer[] buffers
function M.list()
  local buffers = vim.tbl_filter(function(buf)
    return vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].modified
  end, vim.tbl_keys(found))
  table.sort(buffers)
  return buffers
end

--- Keep the buffer's version.
---@param buf integer
function M.keep(buf)
  found[buf] = nil
end

--- Reload a buffer from disk over its unsaved changes; `u` brings them back.
---@param buf integer
function M.take(buf)
  local taken = M.undoably(function()
    files.reload(buf)
  end)
  found[buf] = not taken or nil
end

return M
