--- Actions on servers: choosing one for the chats to come, starting, restarting and ending them.
---
--- Rules kept here: without a name the server of the current chat is meant.
local choose = require('eca.ui.choose')
local config = require('eca.config')
local host = require('eca.host')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local sanitize = require('eca.ui.sanitize')
local servers = require('eca.state.servers')
local similar = require('eca.config.did_you_mean')
local windows = require('eca.window')

local M = {}

--- The server with a name, or of the current chat; what is wrong with the name is shown.
---@param name? string
---@return string? name
local function meant(name)
  if not name then
    return mirror.server_name(windows.current_chat())
  elseif vim.list_contains(servers.names(), name) then
    return name -- for a known one that is not installed, the host says how to install it
  end
  local guess = similar.nearest(name, servers.names())
  local remedy = guess and ('did you mean %s?'):format(guess) or 'set it in the option servers'
  notify.warn(("there is no server '%s': %s"):format(sanitize.line(name), remedy))
end

--- Have chats to come talk to a server; the current chat, too, while it is empty.
---@param name string
local function take(name)
  servers.choose(name)
  require('eca.state.expected').publish()
  local chat = windows.current_chat()
  if chat then
    host.send('open_chat', { chat = chat, server = name })
  else
    notify.info('new chats talk to ' .. name)
  end
end

--- Ask for a server: first those that can be started, then the others, with how to install them.
local function ask()
  local answering = servers.answering()
  local there, missing = {}, {} ---@type string[], string[]
  for _, name in ipairs(servers.names()) do
    table.insert(servers.how_to_install(name) and missing or there, name)
  end
  local options = {
    prompt = 'Choose the server',
    format_item = function(name)
      local install = servers.how_to_install(name)
      local how = install and ('%-10s install: %s'):format(name, install) or name
      return (name == answering and '● ' or '  ') .. how
    end,
  }
  choose.one(vim.list_extend(there, missing), options, function(choice)
    if choice then
      take(choice)
    end
  end)
end

--- Choose the server of chats to come; without a name, ask for one.
---@param name? string
function M.choose(name)
  config.forget()
  if not name then
    return ask()
  end
  name = meant(name)
  return name and take(name)
end

--- Start a server.
---@param name? string
---@param restart? boolean end it first, if it runs
function M.start(name, restart)
  config.forget()
  local server = meant(name)
  if server then
    host.send('start', { restart = restart, server = servers.unless_default(server) })
  end
end

--- End a server.
---@param name? string
function M.quit(name)
  local server = meant(name)
  if server then
    local named = servers.unless_default(server)
    host.send('quit', named and { server = named })
  end
end

--- Choose the demo agent, and start it.
function M.demo()
  M.start('demo')
  take('demo')
end

return M
