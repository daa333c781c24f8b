--- The lines a user has selected right now.
local M = {}

--- Is a visual selection being made?
---@return boolean
function M.active()
  return vim.api.nvim_get_mode().mode:find('^[vV\22]') ~= nil
end

--- First and last line (1-based, inclusive) of the visual selection, which ends; nil without one.
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
