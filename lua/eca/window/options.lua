--- The local options of the chat's windows, among them the status lines.
---
--- Rules kept here:
--- - Options are set for this buffer in this window only, so that another buffer in the window does
---   not get them.
--- - If each window has its own status line, it is a plain line between transcript and input. If
---   all share one ('laststatus' 3), it shows the title instead of the buffer's name, escaped so
---   that it cannot be an expression. One that the user or a plugin has set is left alone.
local chats = require('eca.chat.buffers')
local mirror = require('eca.state.mirror')
local sanitize = require('eca.ui.sanitize')

local M = {}

local COMMON = {
  breakindent = true,
  colorcolumn = '',
  cursorcolumn = false,
  cursorline = false,
  foldenable = false,
  linebreak = true,
  list = false,
  number = false,
  relativenumber = false,
  scrolloff = 0,
  signcolumn = 'no',
  spell = false,
  wrap = true,
}

local MARGIN = "%{%v:lua.require'eca.transcript.decoration'.margin()%}"

---@type table<'chat'|'input', table<string, any>>
local OPTIONS = {
  chat = {
    breakindentopt = 'list:-1',
    concealcursor = 'nc',
    conceallevel = 2,
    foldcolumn = '0',
    number = true, -- makes the width of the margin known before it is drawn
    numberwidth = 3,
    statuscolumn = MARGIN,
  },
  input = {
    conceallevel = 0,
    foldcolumn = '0',
    winfixheight = true,
  },
}

--- The text before the first row of the input.
local PROMPT = "%#EcaPrompt#%{v:lnum == 1 && v:virtnum == 0 ? '> ' : '  '}"
local ANSWER = "%#EcaPrompt#%{v:lnum == 1 && v:virtnum == 0 ? 'Answer> ' : '        '}"

--- Show in an input's window what is typed there: a prompt, or an answer.
---@param win integer
function M.set_prefix(win)
  local chat = chats.of_buffer(vim.api.nvim_win_get_buf(win))
  local prefix = PROMPT
  if chat and chat.question then
    prefix = ANSWER
  end
  vim.wo[win][0].statuscolumn = prefix
end

local SEPARATOR = '%#EcaSeparator#%='
local SEPARATOR_FILL = 'eob: ,stl:─,stlnc:─'
local FILL = 'eob: '

--- The value of 'statusline' for a chat's window; empty: the global one.
---@param win integer
---@param id string
---@return string
local function statusline_of(win, id)
  if vim.o.laststatus ~= 3 then
    return vim.api.nvim_win_get_config(win).relative == '' and SEPARATOR or ''
  end
  local default = vim.api.nvim_get_option_info2('statusline', {}).default
  if vim.go.statusline ~= '' and vim.go.statusline ~= default then
    return '' -- the user has their own
  end
  local title = mirror.title(id)
  return (' %s%%<'):format(sanitize.statusline(title)) -- cut at its end
end

--- Set the status line of a window, if it shows a chat.
---@param win integer
function M.set_statusline(win)
  local chat = chats.of_buffer(vim.api.nvim_win_get_buf(win))
  if not chat then
    return
  end
  local text, own = statusline_of(win, chat.id), vim.wo[win][0].statusline
  if own ~= text and (own == '' or own == vim.w[win].eca_statusline) then
    vim.wo[win][0].statusline = text
    vim.w[win].eca_statusline = text
  end
  local fill = text == SEPARATOR and SEPARATOR_FILL or FILL
  if vim.wo[win][0].fillchars ~= fill then
    vim.wo[win][0].fillchars = fill
  end
end

--- Set the options of a window that shows a chat's buffer.
---@param win integer
---@param kind 'chat'|'input'
function M.set(win, kind)
  local floating = vim.api.nvim_win_get_config(win).relative ~= ''
  for name, value in pairs(vim.tbl_extend('force', COMMON, OPTIONS[kind])) do
    vim.wo[win][0][name] = value
  end
  if kind == 'input' then
    M.set_prefix(win)
  end
  local text = floating and 'LineNr:EcaFloat,NormalFloat:EcaFloat,FloatBorder:EcaFloatBorder'
    or 'LineNr:EcaNormal,Normal:EcaNormal'
  vim.wo[win][0].winhighlight = text .. ',WinBar:EcaWinbar,WinBarNC:EcaWinbar'
  M.set_statusline(win)
end

vim.api.nvim_create_autocmd('OptionSet', {
  group = vim.api.nvim_create_augroup('eca.window.options', {}),
  pattern = { 'laststatus', 'statusline' },
  callback = function(event)
    local is_shown = event.match == 'laststatus' or vim.o.laststatus == 3
    if vim.v.option_type == 'global' and is_shown then -- set by the user
      vim.tbl_map(M.set_statusline, vim.api.nvim_list_wins())
    end
  end,
})

return M
