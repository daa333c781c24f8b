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

--- Is 'statusline' Neovim's default, so that the user has none of their own?
---@return boolean
local function is_default()
  local default = vim.api.nvim_get_option_info2('statusline', {}).default
  return vim.go.statusline == '' or vim.go.statusline == default
end

---@param win integer
---@return boolean
local function has_separator(win)
  return vim.o.laststatus ~= 3 and vim.api.nvim_win_get_config(win).relative == ''
end

--- The title, cut at its end if there is no room.
---@param win integer
---@return string value of the option; empty: use the global one
local function title(win)
  local chat = require('eca.chat.buffers').of_buffer(vim.api.nvim_win_get_buf(win))
  if not chat or vim.o.laststatus ~= 3 or not is_default() then
    return ''
  end
  local text = require('eca.state.mirror').title(chat.id)
  return (' %s%%<'):format(require('eca.ui.sanitize').statusline(text))
end

---@param win integer
---@param text string value of the option
local function set(win, text)
  local own = vim.wo[win][0].statusline
  if own ~= text and (own == '' or own == vim.w[win].eca_statusline) then
    vim.wo[win][0].statusline = text
    vim.w[win].eca_statusline = text
  end
end

--- Show the chat's current title, if the status line shows titles.
---@param win integer that shows a transcript or an input
function M.refresh(win)
  if vim.o.laststatus == 3 then
    set(win, title(win))
  end
end

--- Set the status line of a chat's window.
---@param win integer
function M.set(win)
  local separator = has_separator(win)
  vim.wo[win][0].fillchars = separator and SEPARATOR_FILL or FILL
  set(win, separator and SEPARATOR or title(win))
end

--- Called when the user changes the option.
---@param event { match: string }
local function changed(event)
  if vim.v.option_type ~= 'global' then
    return
  end
  local chats = require('eca.chat.buffers')
  local update = event.match == 'laststatus' and M.set or M.refresh
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    if chats.of_buffer(vim.api.nvim_win_get_buf(win)) then
      update(win)
    end
  end
end

vim.api.nvim_create_autocmd('OptionSet', {
  group = vim.api.nvim_create_augroup('eca.window.statusline', {}),
  pattern = { 'laststatus', 'statusline' },
  callback = changed,
})

return M
