--- Reloads files into their buffers.
---
--- Rules kept here: a reload can be undone, however long the file is. The user's value of Neovim's
--- own limit, 'undoreload', is always restored.
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

return M
