--- Actions on chats: open, hide, create, usage.
---
--- Rules kept here:
--- - The first key loads this file, so what opening a chat does not need is loaded late.
--- - A colour of the agent is used only if the terminal can show it.
local eca = require('eca')
local windows = require('eca.window')

local M = {}

---@param segment eca.UsageSegment
---@return eca.Segment
local function coloured(segment)
  local text, group, color = unpack(segment)
  local shown = vim.o.termguicolors or vim.fn.has('gui_running') == 1
  if color and shown then
    group = 'eca_color_' .. color:sub(2)
    vim.api.nvim_set_hl(0, group, { fg = color })
  end
  return { text, group }
end

--- Show what fills the context window of a chat, and its cost, in a float. The host words it.
---@param chat? string
local function show_usage(chat)
  local rows = chat and require('eca.state.mirror').usage(chat) or {}
  if #rows == 0 then
    require('eca.ui.notify').info('usage of this chat is not known yet')
    return
  end
  local panel = require('eca.ui.panel')
  local text = panel.text(vim.tbl_map(function(row)
    return vim.tbl_map(coloured, row)
  end, rows))
  panel.show({ title = 'usage', lines = text.lines, marks = text.marks })
end

--- Go to the chat. In visual mode the next prompt names the selected lines.
function M.open()
  local first, last = require('eca.context.places').selected_lines()
  local items = first and require('eca.actions.contexts').meant_here(first, last) or {}
  local id = eca.open()
  require('eca.input.field').put_below(require('eca.chat.buffers').get(id).input, items)
end

--- Hide the chat if it is shown, else open it.
function M.toggle()
  eca.toggle()
end

--- Hide the chat.
function M.hide()
  eca.hide()
end

--- Start a new chat.
function M.new()
  eca.new()
end

--- Go to the input in insert mode.
function M.insert()
  eca.open()
  vim.cmd.startinsert({ bang = true })
end

--- Go to the input and put a register there, like |p|.
function M.put()
  local register = vim.v.register
  eca.open()
  require('eca.ui.register').put(register)
end

--- Show the chat's usage: tokens by category, and cost.
function M.usage()
  show_usage(windows.current_chat())
end

return M
