--- Files that changed on disk while their buffers have unsaved changes.
---
--- Rules kept here: such a buffer is not changed before the user decides. Taking the version on
--- disk can be undone.
local files = require('eca.files')
local reload = require('eca.editor.reload')

local M = {}

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
  local taken = reload.undoably(function()
    files.reload(buf)
  end)
  found[buf] = not taken or nil
end

return M
