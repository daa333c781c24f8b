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

--- Show what fills the context window of the chat, and its cost, in a float. The host words it.
function M.usage()
  local chat = windows.current_chat()
  local rows = require('eca.state.mirror').chat(chat).usage
  if #rows == 0 then
    return require('eca.ui.notify').info('usage of this chat is not known yet')
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

M.toggle, M.hide, M.new = eca.toggle, eca.hide, eca.new

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

return M
