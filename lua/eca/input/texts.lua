--- Copies of the inputs' text, available even after their buffers are gone.
---
--- Rules kept here:
--- - The lines are copied as they change. A buffer can be unloaded at any time, and a Neovim that
---   is ended by a signal frees all buffers before `VimLeavePre`.
--- - The cost of a key depends on what it changes, not on how much the input holds.
local M = {}

local lines = {} ---@type table<integer, string[]> by buffer

---@param buf integer
local function copy(buf)
  lines[buf] = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
end

--- Copy the lines of a buffer from now on.
---@param buf integer
---@param changed fun() called during each change: it must not change text itself
function M.watch(buf, changed)
  copy(buf)
  vim.api.nvim_buf_attach(buf, false, {
    on_lines = function(_, _, _, first, last, new_last)
      if new_last == last and lines[buf][last] then
        for index, line in ipairs(vim.api.nvim_buf_get_lines(buf, first, last, false)) do
          lines[buf][first + index] = line
        end
      else
        copy(buf)
      end
      changed()
    end,
  })
end

--- The last known text of a buffer.
---@param buf integer
---@return string
function M.text(buf)
  return table.concat(lines[buf] or {}, '\n')
end

--- Called when a buffer is gone for good.
---@param buf integer
function M.forget(buf)
  lines[buf] = nil
end

return M
