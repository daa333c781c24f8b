--- Actions on chats: open, hide, create, usage.
---
--- Rules kept here: the first key loads this file, so what opening a chat does not need is loaded
--- late.
local eca = require('eca')
local windows = require('eca.window')

local M = {}

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
  require('eca.panels.usage').show(windows.current_chat())
end

return M
