--- How the chat's windows look: their local options.
---
--- Rules kept here: options are set for this buffer in this window only, so that none of them is
--- still there when the window shows something else.
local input_mode = require('eca.state.input_mode')

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

--- A margin of one cell: where a line in a block goes on, it says so, as text in the row could look
--- like another line of the block.
local MARGIN = '%#EcaNormal#%{%v:virtnum > 0'
  .. " ? v:lua.require'eca.transcript.decoration'.margin() : ' '%}"

---@type table<'chat'|'input', table<string, any>>
local OPTIONS = {
  chat = {
    breakindentopt = 'list:-1',
    concealcursor = 'nc',
    conceallevel = 2,
    foldcolumn = '0',
    number = true, -- with it, the width of the margin is known before it is drawn
    numberwidth = 1,
    statuscolumn = MARGIN,
  },
  input = {
    conceallevel = 0,
    foldcolumn = '0',
    winfixheight = true,
  },
}

--- The sign before the input: only the first row of the text has it.
local PROMPT = "%#EcaPrompt#%{v:lnum == 1 && v:virtnum == 0 ? '> ' : '  '}"
local ANSWER = "%#EcaPrompt#%{v:lnum == 1 && v:virtnum == 0 ? 'Answer> ' : '        '}"
local LOGIN = "%#EcaPrompt#%{v:lnum == 1 && v:virtnum == 0 ? 'Login> ' : '       '}"

---@param win integer
---@param options table<string, any>
local function set(win, options)
  for name, value in pairs(options) do
    vim.wo[win][0][name] = value
  end
end

--- Let an input's window tell what is typed there: a prompt, an answer, or what a login asks for.
---@param win integer
function M.sign(win)
  local chat = require('eca.chat.buffers').of_buffer(vim.api.nvim_win_get_buf(win))
  local sign = PROMPT
  if chat and input_mode.is_login(chat.id) then
    sign = LOGIN
  elseif chat and input_mode.question(chat.id) then
    sign = ANSWER
  end
  vim.wo[win][0].statuscolumn = sign
end

--- Make a window one of the chat's.
---@param win integer
---@param kind 'chat'|'input'
function M.window(win, kind)
  local floating = vim.api.nvim_win_get_config(win).relative ~= ''
  set(win, COMMON)
  set(win, OPTIONS[kind])
  if kind == 'input' then
    M.sign(win)
  end
  local text = floating and 'NormalFloat:EcaFloat,FloatBorder:EcaFloatBorder' or 'Normal:EcaNormal'
  vim.wo[win][0].winhighlight = text .. ',WinBar:EcaWinbar,WinBarNC:EcaWinbar'
  require('eca.window.statusline').dress(win)
  require('eca.window.winbar').refresh_window(win)
end

return M
