--- Chats that come and go by what the host did: a copy is shown, a deleted one is gone.
---
--- Rules kept here: only a user who is still where he was is taken along, so that no key goes
--- elsewhere.
local M = {}

--- Show a chat that the user asked for, where he asked for it; elsewhere, tell of it.
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
    require('eca.ui.notify').info(('there is a new chat, "%s"'):format(title))
  end
end

--- Take a chat out; its windows show the chat before it, or go when it was the last one.
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
  require('eca.chat.attention').forget(id)
end

return M
