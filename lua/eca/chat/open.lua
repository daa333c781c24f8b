--- Opens chats, shows those that the host has added, and closes those that it has removed.
---
--- Rules kept here: for a chat that the host adds, such as a fork, the focus moves only if the user
--- is still in the chat's windows, so that no key ends up elsewhere.
local buffers = require('eca.chat.buffers')
local host = require('eca.host')
local mirror = require('eca.state.mirror')
local servers = require('eca.state.servers')

local M = {}

--- Open a chat in this tab page, or go to it. An id that is unknown here may belong to a saved
--- chat, so the agent is asked for it.
---@param id string
---@param mods? table modifiers of a command (`smods`), for the layout
---@param is_new? boolean its id was created just now
---@param server? string the name of its server, if it is new or empty
function M.chat(id, mods, is_new, server)
  local is_unknown = buffers.get(id) == nil and not is_new
  server = servers.unless_default(server or mirror.server_name(id))
  host.send('open_chat', { chat = id, server = server })
  -- The rest is loaded late: the host starts while buffers and windows are created.
  require('eca.context.places').track()
  require('eca.window').open(id, mods)
  require('eca.chat.expected').publish()
  if require('eca.config').get().input.insert then
    vim.schedule(function()
      local chat = buffers.get(id)
      local is_here = chat and chat.input == vim.api.nvim_get_current_buf()
      if is_here and vim.api.nvim_get_mode().mode == 'n' then
        vim.cmd.startinsert({ bang = true })
      end
    end)
  end
  if is_unknown then
    host.send('resume', { chat = id, quiet = true, server = server })
  end
end

--- Show a chat that the user asked for. A user who has left the chat's windows gets a message.
---@param id string
function M.show(id)
  buffers.ensure(id)
  local here = vim.api.nvim_get_current_win()
  local transcript, input = require('eca.window').shown()
  local inside = here == transcript or here == input
  if inside and vim.api.nvim_get_mode().mode == 'n' then
    M.chat(id)
  else
    local title = mirror.title(id)
    require('eca.ui.notify').info(('new chat: "%s"'):format(title))
  end
end

--- Remove a chat. Its windows show the latest of the others, or are closed if there is none.
---@param id string
function M.forget(id)
  local other ---@type string?
  for _, each in ipairs(buffers.ids()) do
    other = each ~= id and each or other
  end
  require('eca.window').replace(id, other)
  buffers.forget(id)
  mirror.forget(id)
  require('eca.state.used_files').forget(id)
end

return M
