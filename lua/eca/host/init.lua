--- The host, the Python side of the plugin: starts it when needed and talks to it.
---
--- Rules kept here:
--- - It starts with the first intent and is never waited for: what is sent early, pynvim queues.
--- - What was sent before the host gave a sign of life is sent again to the next one (`unheard`).
--- - Its end is told in one line with the remedy; `:Eca restart` starts it again, with the options
---   as they are then. A host that does not answer a restart is ended, and another one starts.
local intents = require('eca.host.intents')
local log = require('eca.host.log')
local process = require('eca.host.process')
local python = require('eca.host.python')
local unheard = require('eca.host.held_intents')
local workspace = require('eca.host.workspace')

local M = {}

---@class eca.Intent
---@field name string
---@field payload table<string, any>

--- Intents that answer the host: what one that is gone had asked interests nobody.
local ANSWERS = { drawn = true, returned = true }
--- What is sent by itself, not by a key: that it must wait is no news.
local QUIET = { keep_prompt = true, keep_draft = true, check_context = true }
local METHOD = '%s:function:EcaIntent'
--- Milliseconds that a host has to answer a restart.
---@type integer
M.PATIENCE = 5000

---@type 'stopped'|'running'|'shared'|'failed'
local state = 'stopped'
local channel ---@type integer?
local answered = false
local fault_of = '' -- why it does not run
local told = false -- that the host does not run, since Neovim last waited for its user

--- The file that both sides log to.
---@return string
function M.log_path()
  return log.path()
end

--- Write to the log what went wrong on this side.
---@param text string
function M.log(text)
  log.write(text)
end

--- The process id of a host that runs for this Neovim alone.
---@return integer?
function M.pid()
  local worked, pid = pcall(vim.fn.jobpid, channel)
  return worked and pid or nil
end

--- The folders the agent works in.
M.folders = workspace.folders

--- Called when something happens to the host.
---@class eca.HostListener
---@field draw fun(op: any[]) an op, as the host sends them
---@field sending fun(intent: eca.Intent) it is about to be sent
---@field starting fun(serves: boolean) a host starts, and with `serves` its server
---@field note fun(fault: string) why it does not run, for the chats
---@field lost fun() it is gone: nothing runs or waits any more
---@field cut fun() what it has sent and is not drawn is nobody's any more
---@field drafts eca.DraftKeeper

local listener ---@type eca.HostListener

--- Set the listener; called once, before the first intent.
---@param it eca.HostListener
function M.listen(it)
  listener = it
  unheard.listen(it.draw, it.drafts, M.pid)
end

--- Keep on the disk what no host keeps. Before there is a listener nothing can be typed.
function M.settle()
  if listener then
    unheard.settle()
  end
end

--- Functions cannot travel; the host needs none.
---@param value any
---@return any
local function plain(value)
  if type(value) == 'table' then
    return vim.tbl_map(plain, value)
  end
  return type(value) ~= 'function' and value or nil
end

---@return eca.Intent
local function attach()
  local settings = plain(require('eca.config').get())
  settings.log_path = log.path()
  settings.store_path = vim.fs.joinpath(vim.fn.stdpath('state') --[[@as string]], 'eca')
  local payload = {
    settings = settings,
    folders = workspace.folders(),
    editor = 'Neovim ' .. vim.fn.execute('version'):match('NVIM v(%S+)'),
    pid = vim.fn.getpid(),
  }
  return { name = 'attach', payload = payload }
end

--- Tell of a host that does not run; what follows from the same key is not told again.
---@param level 'error'|'warn'
---@param line string
local function tell(level, line)
  if not told then
    told = true
    require('eca.ui.notify').show(level, line)
    if level == 'error' then
      vim.schedule(function()
        listener.note(line) -- when the chat that needed the host is there
      end)
    end
    vim.schedule(function()
      told = false
    end)
  end
end

---@param fault string
local function fail(fault)
  state, channel, answered, fault_of = 'failed', nil, false, fault
  tell('error', fault)
  listener.cut()
  unheard.hide() -- what is then still above the input was the host's
  unheard.give_back()
  listener.lost()
  unheard.strand()
end

--- Keep an intent that did not arrive.
---@param intent eca.Intent
local function missed(intent)
  answered = false
  unheard.add(intent)
end

--- Hand an intent to the host of `:UpdateRemotePlugins`, which starts or fails in the call.
---@param intent eca.Intent
local function transmit_shared(intent)
  local worked, fault = pcall(vim.fn.EcaIntent, intent.name, intent.payload)
  if not worked then
    local first = vim.split(tostring(fault), '\n')[1]
    missed(intent)
    fail(':checkhealth provider helps, the shared Python host fails: ' .. first)
  end
end

---@param intent eca.Intent
local function transmit(intent)
  unheard.sent(intent)
  if state == 'shared' then
    transmit_shared(intent)
  elseif channel then
    local method = METHOD:format(python.package())
    -- Its exit is told a moment after it is gone: what it cannot hear is for the one that follows.
    if not pcall(vim.rpcnotify, channel, method, { intent.name, intent.payload }) then
      missed(intent)
    end
  end
end

--- Will the host start its server for this? It says so itself as soon as it can.
---@param intent eca.Intent
---@return boolean
local function wants_server(intent)
  return intent.name == 'open_chat' or intent.name == 'prompt' or intent.name == 'start'
end

--- The server that the host may start before it hears of it: the chat that opens needs it.
---@return eca.HeadStart? head_start nil when no server is wanted, or the demo agent
local function head_start()
  local wanting = vim.tbl_filter(wants_server, unheard.all())
  local of_demo = vim.tbl_filter(function(intent) -- `vim.iter` would have to be loaded first
    return intent.payload.demo == true
  end, wanting)
  if wanting[1] and not of_demo[1] then
    local settings = { server = plain(require('eca.config').get().server) }
    return { settings = settings, folder = workspace.folders()[1] }
  end
end

--- Start the host and tell it all that it, or one before it, has not answered.
local function start()
  local fault ---@type string?
  if python.shared() then
    state = 'shared'
  else
    local started ---@type integer?
    started, fault = process.start(head_start(), function(end_of_it)
      if started == channel then -- else it was let go before
        fail(end_of_it)
      end
    end)
    channel, state = started, 'running'
  end
  if fault then
    fail(fault)
    return
  end
  listener.starting(vim.iter(unheard.all()):any(wants_server))
  unheard.forget_sent()
  transmit(attach())
  for _, intent in ipairs(unheard.all()) do
    transmit(intent)
  end
end

--- Start the host after one that ended: it begins with a server of its own, nothing is restarted.
---@param payload? table<string, any> of the intent `start`
local function start_again(payload)
  local demo = payload and payload.demo or false
  require('eca.config').forget()
  unheard.begin_with({ name = 'start', payload = { restart = false, demo = demo } })
  start()
end

--- End a host that hangs, and start another one. The shared host belongs to Neovim: it stays.
---@param payload table<string, any> of the intent `start`
local function replace(payload)
  if not channel then
    return fail('the shared Python host does not answer, start Neovim again')
  end
  local pid = vim.fn.jobpid(channel)
  fail('the host did not answer: it was ended, and another one starts')
  vim.uv.kill(pid, 'sigkill') -- its guardian ends what it has started
  start_again(payload)
end

--- Wait for the host's answer to a restart. What is sent meanwhile is kept for the next host.
---@param payload table<string, any> of the intent `start`
local function expect_answer(payload)
  local asked = channel
  answered = false
  local function check()
    if channel == asked and not answered and state ~= 'failed' then
      replace(payload)
    end
  end
  -- Scheduled once more: an answer that came while Neovim was busy is read first.
  vim.defer_fn(vim.schedule_wrap(check), M.PATIENCE)
end

--- Has it ended, or could not start?
---@return boolean
function M.has_failed()
  return state == 'failed'
end

--- Start the host if it has failed: what was in its way may be gone.
---@return 'failed'|'stopped'|'running'|'shared' state it was in
function M.revive()
  local before = state
  if state == 'failed' then
    start_again()
  end
  return before
end

--- Keep an intent for the host that follows one that failed.
---@param intent eca.Intent
local function send_later(intent)
  if ANSWERS[intent.name] or unheard.do_alone(intent) then
    return
  end
  unheard.add(intent)
  if not QUIET[intent.name] then
    tell('warn', 'the host does not run: ' .. fault_of)
  end
end

--- Send an intent; the host starts when it does not run. Never waits.
---@param name string see `eca.host.intents`
---@param payload? table<string, any>
function M.send(name, payload)
  assert(intents[name], name)
  local intent = { name = name, payload = payload or vim.empty_dict() }
  if state == 'failed' then
    if name == 'start' then
      start_again(payload)
    else
      send_later(intent)
    end
    return
  end
  listener.sending(intent)
  if not answered then
    unheard.add(intent)
  end
  if state == 'stopped' then
    start()
    return
  end
  if name == 'start' then
    require('eca.config').forget() -- who starts again wants the options as they are now
    transmit(attach())
  end
  transmit(intent)
  if intent.payload.restart then
    expect_answer(intent.payload)
  end
end

--- Tell a host that runs the options as they are now.
function M.tell_options()
  if state == 'running' or state == 'shared' then
    transmit(attach())
  end
end

--- Send an intent to the host if one is at work; to no other does it matter.
---@param name string
---@param payload table<string, any>
function M.mention(name, payload)
  if answered then
    M.send(name, payload)
  end
end

--- The host gave a sign of life: what was sent to it has arrived.
function M.alive()
  if not answered then
    answered = true
    unheard.heard()
  end
end

--- The host runs but cannot work: it is told in one line and let go. Called by the host.
---@param fault string
function M.broken(fault)
  local useless = channel
  fail(fault)
  if useless then
    vim.fn.chanclose(useless)
  end
end

return M
