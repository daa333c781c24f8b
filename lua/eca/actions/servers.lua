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

--- What runs in the background, in a few words.
---@param jobs string[] commands
---@return string
function M.describe_jobs(jobs)
  local more = #jobs > 1 and (' and %d more'):format(#jobs - 1) or ''
  return ('what runs in the background: %s%s'):format(jobs[1], more)
end

--- Go on, but ask first if it ends what runs in the background.
---@param verb string
---@param server string
---@param sure? boolean do not ask
---@param go_on fun()
local function ask_first(verb, server, sure, go_on)
  local jobs = mirror.jobs(server)
  if sure or not jobs[1] then
    return go_on()
  end
  local prompt = ('%s %s? It ends %s.'):format(verb, server, M.describe_jobs(jobs))
  choose.one({ verb, 'Keep' }, { prompt = prompt }, function(choice)
    if choice == verb then
      go_on()
    end
  end)
end

--- Start a server.
---@param name? string
function M.start(name)
  config.forget()
  local server = meant(name)
  if server then
    host.send('start', { server = servers.unless_default(server) })
  end
end

--- End a server if it runs, and start it.
---@param name? string
---@param sure? boolean do not ask
function M.restart(name, sure)
  config.forget()
  local server = meant(name)
  if server then
    ask_first('Restart', server, sure, function()
      host.send('start', { restart = true, server = servers.unless_default(server) })
    end)
  end
end

--- End a server.
---@param name? string
---@param sure? boolean do not ask
function M.quit(name, sure)
  local server = meant(name)
  if server then
    ask_first('Quit', server, sure, function()
      local named = servers.unless_default(server)
      host.send('quit', named and { server = named })
    end)
  end
end

--- Choose the demo agent, and start it.
function M.demo()
  M.start('demo')
  take('demo')
end

return M
