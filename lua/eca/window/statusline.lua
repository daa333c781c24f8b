--- The status lines of the chat's windows, where nobody else has one for them.
---
--- Rules kept here:
--- - Where each window has its own, it is a quiet line between transcript and input.
--- - Where all share one ('laststatus' 3), it tells the title in place of a buffer's name, as text
---   that cannot be an expression; a 'statusline' of the user's tells what he wants.
--- - A local value that others gave is left alone.
local M = {}

local QUIET = '%#EcaSeparator#%='
local QUIET_FILL = 'eob: ,stl:─,stlnc:─'
local FILL = 'eob: '

--- Has the user no status line of his own? What Neovim has by default is none of his.
---@return boolean
local function is_default()
  local default = vim.api.nvim_get_option_info2('statusline', {}).default
  return vim.go.statusline == '' or vim.go.statusline == default
end

---@param win integer
---@return boolean
local function is_quiet(win)
  return vim.o.laststatus ~= 3 and vim.api.nvim_win_get_config(win).relative == ''
end

--- The title, cut at its end where there is no room.
---@param win integer
---@return string value of the option, empty: the global one
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
local function give(win, text)
  local own = vim.wo[win][0].statusline
  if own ~= text and (own == '' or own == vim.w[win].eca_statusline) then
    vim.wo[win][0].statusline = text
    vim.w[win].eca_statusline = text
  end
end

--- Tell the title, if it is to be told here.
---@param win integer that shows a transcript or an input
function M.refresh(win)
  if vim.o.laststatus == 3 then
    give(win, title(win))
  end
end

--- Give a window of the chat its status line.
---@param win integer
function M.dress(win)
  local quiet = is_quiet(win)
  vim.wo[win][0].fillchars = quiet and QUIET_FILL or FILL
  give(win, quiet and QUIET or title(win))
end

--- The user has another status line than before.
---@param event { match: string }
local function changed(event)
  if vim.v.option_type ~= 'global' then
    return
  end
  local chats, follow =
    require('eca.chat.buffers'), event.match == 'laststatus' and M.dress or M.refresh
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    if chats.of_buffer(vim.api.nvim_win_get_buf(win)) then
      follow(win)
    end
  end
end

vim.api.nvim_create_autocmd('OptionSet', {
  group = vim.api.nvim_create_augroup('eca.window.statusline', {}),
  pattern = { 'laststatus', 'statusline' },
  callback = changed,
})

return M
