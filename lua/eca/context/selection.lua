--- The lines that the user is selecting.
local M = {}

--- Is the user in visual mode?
---@return boolean
function M.active()
  return vim.api.nvim_get_mode().mode:find('^[vV\22]') ~= nil
end

--- End visual mode. Returns the first and last selected line (1-based, inclusive), or nil if the
--- user was not in visual mode.
---@return integer? first, integer? last
function M.lines()
  if not M.active() then
    return nil
  end
  local first, last = vim.fn.line('v'), vim.fn.line('.')
  vim.api.nvim_feedkeys(vim.keycode('<Esc>'), 'nx', false)
  return math.min(first, last), math.max(first, last)
end

return M
