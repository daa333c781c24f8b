--- Lets the user choose from a list, by whatever shows lists here (`vim.ui.select`).
local builtin = require('eca.ui.builtin')

local M = {}

--- Ask for one of some items. An interrupt (<C-c>) chooses nothing, as <Esc> does.
---@generic T
---@param items T[]
---@param options { prompt: string, format_item?: fun(item: T): string }
---@param on_choice fun(item?: T)
function M.one(items, options, on_choice)
  local chosen = false
  local shown, fault = pcall(vim.ui.select, items, options, function(item)
    chosen = true
    on_choice(item)
  end)
  if shown then
    return
  end
  -- Neovim's own list raises this where others call back with nothing.
  if chosen or not tostring(fault):find('Keyboard interrupt', 1, true) then
    error(fault, 0)
  end
  on_choice(nil)
end

--- Does Neovim itself show lists, which have no more room than the screen?
---@return boolean
function M.is_plain()
  return builtin.is(vim.ui.select)
end

return M
