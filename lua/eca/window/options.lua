--- The local options of the chat's windows.
---
--- Rules kept here: options are set for this buffer in this window only, so that another buffer in
--- the window does not get them.

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

---@param win integer
---@param options table<string, any>
local function set_all(win, options)
  for name, value in pairs(options) do
    vim.wo[win][0][name] = value
  end
end

--- Show in an input's window what is typed there: a prompt, or an answer.
---@param win integer
function M.set_prefix(win)
  local chat = require('eca.chat.buffers').of_buffer(vim.api.nvim_win_get_buf(win))
  local prefix = PROMPT
  if chat and chat.question then
    prefix = ANSWER
  end
  vim.wo[win][0].statuscolumn = prefix
end

--- Set the options of a window that shows a chat's buffer.
---@param win integer
---@param kind 'chat'|'input'
function M.set(win, kind)
  local floating = vim.api.nvim_win_get_config(win).relative ~= ''
  set_all(win, COMMON)
  set_all(win, OPTIONS[kind])
  if kind == 'input' then
    M.set_prefix(win)
  end
  local text = floating and 'LineNr:EcaFloat,NormalFloat:EcaFloat,FloatBorder:EcaFloatBorder'
    or 'LineNr:EcaNormal,Normal:EcaNormal'
  vim.wo[win][0].winhighlight = text .. ',WinBar:EcaWinbar,WinBarNC:EcaWinbar'
  require('eca.window.statusline').set(win)
  require('eca.window.winbar').refresh_window(win)
end

return M
