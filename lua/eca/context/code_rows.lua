--- The rows of an input that are in fenced code blocks, found once per change of its text.
local words = require('eca.context.words')

local M = {}

---@class eca.KnownCode
---@field tick integer
---@field rows table<integer, true>

local known = {} ---@type table<integer, eca.KnownCode> by buffer

--- The rows of a buffer in code blocks.
---@param buf integer
---@return table<integer, true> rows 1-based
function M.of(buf)
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  if not known[buf] or known[buf].tick ~= tick then
    local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
    known[buf] = { tick = tick, rows = words.code_rows(lines) }
  end
  return known[buf].rows
end

return M
