--- The text of the inputs, known also when their buffers are gone.
---
--- Rules kept here:
--- - The lines are copied as they change. A buffer can be unloaded at any time, and a Neovim that a
---   signal ends frees all of them before `VimLeavePre`.
--- - A key costs what it changes, not what the input holds.
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

--- What was last in a buffer.
---@param buf integer
---@return string
function M.text(buf)
  return table.concat(lines[buf] or {}, '\n')
end

--- A buffer is gone for good.
---@param buf integer
function M.forget(buf)
  lines[buf] = nil
end

return M
