--- Takes the user from a chat to a window for files.
---
--- Rules kept here: a chat that floats would cover what the user goes to, so it is hidden.
local windows = require('eca.window')

local M = {}

---@param win? integer
---@return boolean
local function floats(win)
  return win ~= nil and vim.api.nvim_win_get_config(win).relative ~= ''
end

--- Uncover the windows of this tab page: leave a float, and hide a chat that floats.
function M.uncover()
  if floats(0) then
    vim.api.nvim_set_current_win(windows.code_window())
  end
  local transcript, input = windows.shown()
  if floats(transcript or input) then
    windows.hide()
  end
end

--- Enter a window for files.
function M.enter()
  vim.api.nvim_set_current_win(windows.code_window())
  M.uncover()
end

return M
