--- Opens a chat: notifies the host, opens the windows, and puts the cursor in the input.
local buffers = require('eca.chat.buffers')
local host = require('eca.host')
local mirror = require('eca.state.mirror')
local servers = require('eca.state.servers')

local M = {}

--- Start insert mode in a chat's input, if the user is there in normal mode.
---@param id string
local function start_insert(id)
  local chat = buffers.get(id)
  local is_here = chat and chat.input == vim.api.nvim_get_current_buf()
  if is_here and vim.api.nvim_get_mode().mode == 'n' then
    vim.cmd.startinsert({ bang = true })
  end
end

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
  require('eca.context').track()
  require('eca.window').open(id, mods)
  require('eca.state.expected').publish()
  if require('eca.config').get().input.insert then
    vim.schedule(function()
      start_insert(id)
    end)
  end
  if is_unknown then
    host.send('resume', { chat = id, quiet = true, server = server })
  end
end

return M
