--- Files that changed on disk while their buffers have unsaved changes.
---
--- Rules kept here: nothing happens to such a buffer before the user has said so. What he takes
--- from disk can be undone.
local files = require('eca.files')
local reload = require('eca.editor.reload')

local M = {}

local found = {} ---@type table<integer, true>

--- A buffer's file changed on disk, and the buffer has unsaved changes.
---@param buf integer
function M.note(buf)
  found[buf] = true
end

--- The buffers of which the user has not said what becomes of them.
---@return integer[] buffers
function M.list()
  local buffers = vim.tbl_filter(function(buf)
    return vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].modified
  end, vim.tbl_keys(found))
  table.sort(buffers)
  return buffers
end

--- Leave a buffer as it is.
---@param buf integer
function M.keep(buf)
  found[buf] = nil
end

--- Read a buffer's file again, over unsaved changes; `u` brings them back.
---@param buf integer
function M.take(buf)
  local taken = reload.undoably(function()
    files.reload(buf)
  end)
  found[buf] = not taken or nil
end

return M
