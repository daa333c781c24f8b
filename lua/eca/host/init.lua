--- The host is the Python side of the plugin: this file starts it when needed and talks to it.
---
--- Rules kept here:
--- - It starts with the first intent, and nothing waits for it: pynvim queues what is sent early.
--- - Intents sent before the host's first sign of life are sent again to the next host
---   (`held_intents`).
--- - When it exits, a message of one line names the remedy. The next prompt starts it again, or
---   opening a chat, unless it could not start: then what is wrong must be corrected first.
--- - `:Eca restart` starts it in any case, with the current options. A host that does not answer a
---   restart is killed, and another one starts.
local held_intents = require('eca.host.held_intents')
local log = require('eca.host.log')
local others = require('eca.ui.others')
local python = require('eca.host.python')
local scan = require('eca.text.scan')
local servers = require('eca.state.servers')
local workspace = require('eca.host.workspace')

local M = {}

---@class eca.Intent
---@field name string
---@field payload table<string, any>
---@field text? string of the user in it, once it is sent

--- Intents that answer the host: no other host needs them.
local ANSWERS = { drawn = true, returned = true }
--- Intents that are not sent by a key: no message says that they are held.
local QUIET = { keep_draft = true, check_context = true }
--- Intents for which the host starts a server.
local WANTS_SERVER = { open_chat = true, prompt = true, start = true }
--- States with a host, which may be starting; without one: it has exited, or cannot start.
local THERE, DOWN = { running = true, shared = true }, { ended = true, failed = true }
local METHOD = python.PACKAGE .. ':function:EcaIntent'
local ENDED =
  'the plugin host ended, exit code %d: your next prompt or :Eca restart starts it again%s'
--- Milliseconds that a host has to answer a restart.
---@type integer
M.PATIENCE = 5000

--- `ended`: it has exited; `failed`: it cannot start.
---@type 'stopped'|'running'|'shared'|'ended'|'failed'
local state = 'stopped'
local channel ---@type integer?
local answered = false
local last_fault = '' -- why it is not running
local has_notified = false -- of a fault, in the current event

--- The process id of the host, unless it is the shared one.
---@return integer?
function M.pid()
  local worked, pid = pcall(vim.fn.jobpid, channel)
  return worked and pid or nil
end

--- The folders the agent works in.
M.folders = workspace.folders

--- Functions that are called when something happens to the host.
---@class eca.HostListener
---@field draw fun(op: eca.Op) draws an op, as if the host had sent it
---@field publish fun() what was sent, and not confirmed yet, has changed
---@field starting fun(server?: string) the host starts, and perhaps the server with this name
---@field note fun(fault?: string) shows in the chats why the host cannot start; nil: it starts
---@field lost fun() the host is gone: nothing is running or pending any more
---@field cut fun() the host is gone: discards ops that are not drawn yet
---@field drafts eca.DraftSource

local listener ---@type eca.HostListener

--- Set the listener. Called once, before the first intent.
---@param new_listener eca.HostListener
function M.listen(new_listener)
  listener = new_listener
  held_intents.listen(listener, M.pid)
end

--- Save on disk what no host saves. Without a listener nothing can have been typed.
function M.settle()
  if listener then
    held_intents.settle()
  end
end

--- Remove functions, which cannot be sent to the host.
---@param value any
---@return any
local function without_functions(value)
  if type(value) == 'table' then
    return vim.tbl_map(without_functions, value)
  end
  if type(value) ~= 'function' then
    return value
  end
end

---@return eca.Intent
local function attach()
  local settings = without_functions(require('eca.config').get())
  settings.default_server = servers.tell_default()
  settings.log_path = log.path()
  settings.templates = require('eca.state.templates').folders()
  settings.install.folder = servers.folder()
  settings.store_path = vim.fs.joinpath(vim.fn.stdpath('state') --[[@as string]], 'eca')
  local payload = {
    settings = settings,
    folders = workspace.first(),
    added = workspace.added(),
    editor = 'Neovim ' .. vim.fn.execute('version'):match('NVIM v(%S+)'),
    pid = vim.fn.getpid(),
  }
  return { name = 'attach', payload = payload }
end

--- Show that the host is not running, once per event.
---@param level 'error'|'warn'
---@param line string
local function notify(level, line)
  if not has_notified then
    has_notified = true
    require('eca.ui.notify').show(level, line)
    if level == 'error' then
      vim.schedule(function()
        listener.note(line) -- scheduled, so that the chat that needed the host exists
      end)
    end
    vim.schedule(function()
      has_notified = false
    end)
  end
end

---@param fault string
---@param ended? 'ended' default: failed
local function fail(fault, ended)
  fault = not ended and python.building or fault
  state, channel, answered, last_fault = ended or 'failed', nil, false, fault
  notify('error', fault)
  listener.cut()
  held_intents.hide() -- the prompts then left above the input are the host's
  held_intents.give_back()
  listener.lost()
  held_intents.host_gone()
end

--- Called when the host has exited: its error output goes to the log, the last line of it into the
--- message, which is only that line if the environment lacks something.
---@param code integer
---@param output string[]
local function exited(code, output)
  local lines = vim.split(scan.trim(table.concat(output, '\n')), '\n')
  local last = lines[#lines]
  if code == python.CANNOT_START then
    return fail(last)
  end
  local line = ENDED:format(code, last ~= '' and ('; it said: ' .. last) or '')
  log.write(last == '' and line or table.concat(lines, '\n'))
  fail(line, 'ended')
end

---@param intent eca.Intent
local function transmit(intent)
  local worked, fault = true, nil ---@type boolean, any
  held_intents.sent(intent)
  if state == 'shared' then -- it starts or fails during the call
    worked, fault = pcall(vim.fn.EcaIntent, intent.name, intent.payload)
  elseif channel then
    -- The exit event comes a moment after the exit: what cannot be sent is held for the next host.
    worked = pcall(vim.rpcnotify, channel, METHOD, { intent.name, intent.payload })
  end
  if worked then
    return
  end
  answered = false
  held_intents.add(intent)
  if state == 'shared' then
    local first = vim.split(tostring(fault), '\n')[1]
    fail('see :checkhealth provider, the shared Python host fails: ' .. first)
  end
end

--- The name of the first server that the host will start for the held intents.
---@return string?
local function wanted_server()
  for _, intent in ipairs(held_intents.all()) do
    if WANTS_SERVER[intent.name] then
      return intent.payload.server or servers.default()
    end
  end
end

--- The server that the host starts before it receives any intent.
---@param server string its name
---@return eca.HeadStart
local function head_start(server)
  local described = without_functions(servers.options()) ---@type table<string, table>
  for _, each in pairs(described) do
    each.mcp, each.options = nil, nil -- for sessions; the environment is no place for secrets
  end
  local settings = { server = server, servers = described }
  settings.install = { folder = servers.folder() }
  return { settings = settings, folder = workspace.folders()[1] }
end

--- Start the host and send it all held intents.
local function start()
  if #workspace.first() == 0 then
    return fail(workspace.GONE)
  end
  local fault ---@type string?
  local server, could_not_start = wanted_server(), state == 'failed'
  if python.shared() then
    state = 'shared'
  else
    local started ---@type integer?
    started, fault = python.start(server and head_start(server), function(code, output)
      if started == channel then -- else we have given it up already
        exited(code, output)
      end
    end)
    channel, state = started, 'running'
  end
  if fault then
    fail(fault)
    return
  end
  if could_not_start then
    listener.note(nil)
  end
  listener.starting(server)
  held_intents.forget_sent()
  transmit(attach())
  for _, intent in ipairs(held_intents.all()) do
    transmit(intent)
  end
end

--- Start a host after one has exited. It starts its own server, so no server is restarted.
---@param payload? table<string, any> of the intent `start`
local function start_again(payload)
  local server = payload and payload.server
  require('eca.config').forget()
  held_intents.begin_with({ name = 'start', payload = { restart = false, server = server } })
  start()
end

--- Kill a host that hangs, and start another one. The shared host belongs to Neovim and stays.
---@param payload table<string, any> of the intent `start`
local function replace(payload)
  if not channel then
    return fail('the shared Python host does not answer: restart Neovim')
  end
  local pid = vim.fn.jobpid(channel)
  fail('the plugin host did not answer: it was killed, and another one starts')
  vim.uv.kill(pid, 'sigkill') -- its guardian ends its child processes
  start_again(payload)
end

--- Expect an answer to a restart within `M.PATIENCE`. Intents sent meanwhile are held for the next
--- host.
---@param payload table<string, any> of the intent `start`
local function expect_answer(payload)
  local asked = channel
  answered = false
  local function check()
    if channel == asked and not answered and not M.has_failed() then
      replace(payload)
    end
  end
  -- Scheduled once more, so that an answer that came while Neovim was busy is read first.
  vim.defer_fn(vim.schedule_wrap(check), M.PATIENCE)
end

--- Has the host exited, or could it not start?
---@return boolean
function M.has_failed()
  return DOWN[state] or false
end

--- Is the plugin's environment missing, so that the send key builds it?
---@return boolean
function M.can_build()
  return state == 'failed' and vim.startswith(last_fault, python.INSTALL)
end

--- Say again why a host that could not start is not running, in other words.
---@param line string
function M.explain(line)
  if state == 'failed' then
    last_fault = line
    listener.note(line)
  end
end

--- Start the host if it has failed: the reason may be gone.
---@return 'failed'|'ended'|'stopped'|'running'|'shared' state before
function M.revive()
  local before = state
  if M.has_failed() then
    start_again()
  end
  return before
end

--- Send an intent without waiting. The host is started if it is not running.
---@param name string see `eca_nvim/chat/vocabulary/intents.py`, which explains the fields of each
---@param payload? table<string, any>
function M.send(name, payload)
  local intent = { name = name, payload = payload or vim.empty_dict() }
  if DOWN[state] then
    if name == 'start' then
      start_again(payload)
    elseif state == 'ended' and WANTS_SERVER[name] and not intent.payload.redraw then
      held_intents.add(intent)
      start_again()
    elseif not ANSWERS[name] and not held_intents.do_without_host(intent) then
      if not held_intents.add(intent) then
        held_intents.answered(intent.payload.request)
      end
      if not QUIET[name] and not intent.payload.redraw then
        notify('warn', 'the plugin host is not running: ' .. last_fault)
      end
    end
    return
  end
  if not answered then
    held_intents.add(intent)
  end
  if state == 'stopped' then
    start()
    return
  end
  if name == 'start' then
    require('eca.config').forget() -- a restart uses the current options
    transmit(attach())
  end
  transmit(intent)
  if intent.payload.restart then
    expect_answer(intent.payload)
  end
end

--- Request something. The callback is scheduled, so that ops sent with the answer are drawn first.
---@param name string of the intent
---@param payload table<string, any>
---@param callback fun(value: any) nil if it failed; the host has shown why
function M.ask(name, payload, callback)
  payload.request = held_intents.expect(others.soon(callback))
  M.send(name, payload)
end

--- Send the current options to a running host.
function M.send_options()
  if THERE[state] then
    transmit(attach())
  end
end

--- Send an intent only if the host runs, or starts: what it ends was sent as early.
---@param name string
---@param payload table<string, any>
---@return boolean sent
function M.send_if_running(name, payload)
  if THERE[state] then
    M.send(name, payload)
  end
  return THERE[state] == true
end

--- Request something only if the host is running; it does not matter otherwise.
---@param name string
---@param payload table<string, any>
---@param callback fun(value: any) nil if it failed
---@return boolean sent
function M.ask_if_running(name, payload, callback)
  if answered then
    M.ask(name, payload, callback)
  end
  return answered
end

--- Called at each sign of life of the host: what was sent to it has arrived.
function M.alive()
  if not answered then
    answered = true
    held_intents.received()
  end
end

--- Called by a host that is running but cannot work: shows why and gives it up.
---@param fault string
function M.broken(fault)
  local useless = channel
  fail(fault)
  if useless then
    vim.fn.chanclose(useless)
  end
end

return M
