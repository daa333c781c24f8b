--- The status lines of the chat's windows, unless the user or a plugin sets them.
---
--- Rules kept here:
--- - If each window has its own, it is a plain line between transcript and input.
--- - If all share one ('laststatus' 3), it shows the title instead of the buffer's name, escaped so
---   that it cannot be an expression. A 'statusline' of the user's is left alone.
--- - A local value that others have set is left alone.
local M = {}

local SEPARATOR = '%#EcaSeparator#%='
local SEPARATOR_FILL = 'eob: ,stl:─,stlnc:─'
local FILL = 'eob: '

--- The value of the option for a chat's window; empty: the global one.
---@param win integer
---@param id string
---@return string
local function value(win, id)
  if vim.o.laststatus ~= 3 then
    return vim.api.nvim_win_get_config(win).relative == '' and SEPARATOR or ''
  end
  local default = vim.api.nvim_get_option_info2('statusline', {}).default
  if vim.go.statusline ~= '' and vim.go.statusline ~= default then
    return '' -- the user has their own
  end
  local title = require('eca.state.mirror').title(id)
  return (' %s%%<'):format(require('eca.ui.sanitize').statusline(title)) -- cut at its end
end

--- Set the status line of a window, if it shows a chat.
---@param win integer
function M.set(win)
  local chat = require('eca.chat.buffers').of_buffer(vim.api.nvim_win_get_buf(win))
  if not chat then
    return
  end
  local text, own = value(win, chat.id), vim.wo[win][0].statusline
  if own ~= text and (own == '' or own == vim.w[win].eca_statusline) then
    vim.wo[win][0].statusline = text
    vim.w[win].eca_statusline = text
  end
  local fill = text == SEPARATOR and SEPARATOR_FILL or FILL
  if vim.wo[win][0].fillchars ~= fill then
    vim.wo[win][0].fillchars = fill
  end
end

vim.api.nvim_create_autocmd('OptionSet', {
  group = vim.api.nvim_create_augroup('eca.window.statusline', {}),
  pattern = { 'laststatus', 'statusline' },
  callback = function(event)
    local is_shown = event.match == 'laststatus' or vim.o.laststatus == 3
    if vim.v.option_type == 'global' and is_shown then -- set by the user
      vim.tbl_map(M.set, vim.api.nvim_list_wins())
    end
  end,
})

return M
