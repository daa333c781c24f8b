--- Chats that the host has added or removed: a fork is shown, a deleted chat is closed.
---
--- Rules kept here: the focus moves only if the user is still in the chat's windows, so that no key
--- ends up elsewhere.
local M = {}

--- Show a chat that the user asked for. A user who has left the chat's windows gets a message.
---@param id string
function M.show(id)
  require('eca.chat.buffers').ensure(id)
  local here = vim.api.nvim_get_current_win()
  local transcript, input = require('eca.window').shown()
  local inside = here == transcript or here == input
  if inside and vim.api.nvim_get_mode().mode == 'n' then
    require('eca.chat.open').chat(id)
  else
    local title = require('eca.state.mirror').title(id)
    require('eca.ui.notify').info(('new chat: "%s"'):format(title))
  end
end

--- Remove a chat. Its windows show the latest of the others, or are closed if there is none.
---@param id string
function M.forget(id)
  local chats = require('eca.chat.buffers')
  local other ---@type string?
  for _, each in ipairs(chats.ids()) do
    other = each ~= id and each or other
  end
  require('eca.window').replace(id, other)
  chats.forget(id)
  require('eca.state.mirror').forget(id)
  require('eca.state.files_used').forget(id)
  require('eca.chat.attention').forget(id)
end

return M
