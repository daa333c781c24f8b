--- Actions on chats: open, hide, make, choose.
---
--- Rules kept here: the first key of a chat waits for this file, so what opening does not need is
--- loaded late.
local eca = require('eca')
local windows = require('eca.window')

local M = {}

--- Go to the chat; in visual mode, with the selected lines as context.
function M.open()
  if require('eca.context.selection').active() then
    require('eca.actions.contexts').add()
  end
  eca.open()
end

--- Hide the chat when it is shown, else open it.
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

--- Go to the input and begin to type.
function M.insert()
  eca.open()
  vim.cmd.startinsert({ bang = true })
end

--- Go to the input and put a register there, as |p| does.
function M.put()
  local register = vim.v.register
  eca.open()
  vim.cmd.normal({ '"' .. register .. 'p', bang = true })
end

--- Show what the chat uses: tokens by category, and cost.
function M.usage()
  require('eca.panels.usage').show(windows.current_chat())
end

return M
