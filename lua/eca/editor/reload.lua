--- Reading files again into their buffers.
---
--- Rules kept here: undo leads back to what a buffer held, however long the file is. Neovim's own
--- limit, 'undoreload', is the user's and comes back in any case.
local notify = require('eca.ui.notify')

local M = {}

--- Run what reads buffers again, and tell when that fails.
---@param read fun()
---@return boolean worked
function M.undoably(read)
  local most = vim.o.undoreload
  vim.o.undoreload = -1
  local worked, fault = pcall(read)
  vim.o.undoreload = most
  if not worked then
    local line = tostring(fault):match('[^\n]*'):gsub('^%S+:%d+: ', '') -- no place in our code
    notify.warn(line)
  end
  return worked
end

return M
