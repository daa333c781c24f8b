--- Actions on servers: choosing one for the chats to come, starting, restarting and ending them,
--- logging in and out.
---
--- Rules kept here:
--- - Without a name the server of the current chat is meant.
--- - What a login asks, it asks in the chat.
local choose = require('eca.ui.choose')
local config = require('eca.config')
local display_width = require('eca.ui.display_width')
local eca = require('eca')
local host = require('eca.host')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local return_window = require('eca.ui.return_window')
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
  require('eca.chat.expected').publish()
  require('eca.panels').mark_server()
  local chat = windows.current_chat()
  if chat then
    host.send('open_chat', { chat = chat, server = name })
  else
    notify.info('new chats talk to ' .. name)
  end
end

local PANEL = 'server'

--- Choose the server of chats to come; without a name, show all of them.
---@param name? string
function M.choose(name)
  config.forget()
  if not name then
    return require('eca.panels').open(PANEL)
  end
  name = meant(name)
  return name and take(name)
end

--- Have the panel of servers do something with one.
---@param action 'install'|'undo'|'uninstall'
---@param name string
local function act(action, name)
  local panels = require('eca.panels')
  panels.open(PANEL, name)
  local payload = { panel = PANEL, action = action, row = name, values = {} }
  host.ask('act_in_panel', payload, function() end) -- the panel shows what follows
end

--- Build the plugin's Python environment; with a name, plan to install that server.
---@param name? string
function M.install(name)
  if not name then
    return require('eca.commands.plugin').install()
  end
  act('install', name)
end

--- The servers that `:Eca install` may know; others are in the registry.
---@return string[]
function M.installable()
  return vim.tbl_keys(servers.known())
end

local UNDO = '--undo'

--- Look for a newer version of a server, default: of ECA; `--undo` uses the one before again.
---@param words? string
function M.update(words)
  local name, undo = servers.ECA, false
  for word in vim.gsplit(words or '', '%s+', { trimempty = true }) do
    undo = undo or word == UNDO
    name = word ~= UNDO and word or name
  end
  if not vim.list_contains(servers.installed(), name) then
    local line = ':Eca install has not installed %s, so it cannot update it'
    return notify.warn(line:format(sanitize.line(name)))
  end
  act(undo and 'undo' or 'install', name)
end

---@return string[]
function M.updatable()
  return vim.list_extend({ UNDO }, servers.installed())
end

--- Remove a server that was installed; asks first.
---@param name? string
function M.uninstall(name)
  if not name or not vim.list_contains(servers.installed(), name) then
    local there = table.concat(servers.installed(), ', ')
    return notify.warn(':Eca uninstall takes one of: ' .. (there ~= '' and there or 'none yet'))
  end
  choose.sure('Uninstall', ("Remove %s from the plugin's own folder?"):format(name), function()
    act('uninstall', name)
  end)
end

local MOST_JOBS, JOB_CELLS = 3, 40

--- What runs in the background, for a question: how many, which, and where they are listed.
---@param jobs string[] commands
---@return string
function M.describe_jobs(jobs)
  local named = vim.tbl_map(function(job)
    return display_width.cut(job, JOB_CELLS)
  end, vim.list_slice(jobs, 1, MOST_JOBS))
  local more = #jobs > MOST_JOBS and (' and %d more'):format(#jobs - MOST_JOBS) or ''
  local count = #jobs == 1 and '1 job that runs' or ('%d jobs that run'):format(#jobs)
  return ('%s, see :Eca jobs: %s%s'):format(count, table.concat(named, ', '), more)
end

--- Do something with a server that ends it; ask first if that ends what runs in the background.
---@param verb 'Restart'|'Quit'
---@param name? string
---@param sure? boolean do not ask
---@param go_on fun(server?: string) nil: the default one
local function end_server(verb, name, sure, go_on)
  local server = meant(name)
  local jobs = server and mirror.jobs(server) or {}
  local function run()
    go_on(servers.unless_default(server))
  end
  if server and (sure or not jobs[1]) then
    run()
  elseif server then
    choose.sure(verb, ('%s %s? It ends %s.'):format(verb, server, M.describe_jobs(jobs)), run)
  end
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
  end_server('Restart', name, sure, function(server)
    host.send('start', { restart = true, server = server })
  end)
end

--- End a server.
---@param name? string
---@param sure? boolean do not ask
function M.quit(name, sure)
  end_server('Quit', name, sure, function(server)
    host.send('quit', server and { server = server })
  end)
end

--- Choose the demo agent, and start it.
function M.demo()
  M.start('demo')
  take('demo')
end

--- Columns that Neovim's own list needs for numbers.
local MARGIN = 5

---@class eca.LoginWay
---@field id string
---@field name string
---@field about string
---@field logged_in? boolean nil: not known

local known = {} ---@type table<string, eca.LoginWay[]> by server, as it was last listed

--- Ask how the user can log in to the server of a chat.
---@param chat string
---@param callback? fun(ways: eca.LoginWay[])
local function list(chat, callback)
  host.ask('list_logins', { chat = chat }, function(ways)
    known[mirror.server_name(chat)] = ways
    if ways and callback then
      callback(ways)
    end
  end)
end

--- Let the user choose one of some ways, and send it.
---@param intent 'log_in'|'log_out'
---@param chat string
---@param ways eca.LoginWay[]
---@param asked eca.Asked
local function pick(intent, chat, ways, asked)
  if not return_window.may_focus(asked, 'the list') then
    return
  end
  choose.one(intent == 'log_in' and 'Log in' or 'Log out', ways, function(way)
    local about = way.about ~= '' and ('  ' .. way.about) or ''
    return display_width.cut(sanitize.line(way.name .. about), vim.o.columns - MARGIN)
  end, function(way)
    host.send(intent, { chat = chat, way = way.id })
  end)
end

--- The ids of the ways that were listed last; they are listed again for the next time.
---@return string[]
function M.logins()
  local chat = windows.current_chat()
  if not chat then
    return {}
  end
  list(chat)
  return vim.tbl_map(function(way)
    return way.id
  end, known[mirror.server_name(chat)] or {})
end

--- Log in to the server of the current chat.
---@param id? string of the way; without it a list is shown
function M.login(id)
  local chat = eca.open()
  if id then
    return host.send('log_in', { chat = chat, way = id })
  end
  local asked = return_window.asked()
  list(chat, function(ways)
    if #ways == 0 then
      notify.info('this server has no login: log in with its own program')
    else
      pick('log_in', chat, ways, asked)
    end
  end)
end

--- Log out of the server of the current chat.
---@param id? string of one of several logins; without it a list is shown, if there are several
function M.logout(id)
  local chat = eca.current()
  if id then
    return host.send('log_out', { chat = chat, way = id })
  end
  local asked = return_window.asked()
  list(chat, function(ways)
    local is_several = false
    local logged_in = vim.tbl_filter(function(way)
      is_several = is_several or way.logged_in ~= nil
      return way.logged_in
    end, ways)
    if not is_several then
      host.send('log_out', { chat = chat })
    elseif #logged_in == 0 then
      notify.info('you are not logged in')
    else
      pick('log_out', chat, logged_in, asked)
    end
  end)
end

return M
