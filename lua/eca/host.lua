--- The host: the Python process behind the plugin. Starts it, talks to it, notices its end.
---
--- Rules kept here:
--- - It starts with the first intent and is never waited for: what is sent early, pynvim queues.
--- - What was sent before the host gave a sign of life is sent again to the next one.
--- - Its end is told in one line with the remedy; `:Eca restart` starts it again.
--- - It is detached: Neovim leaves at once, and the host ends its servers when its input closes.
---   Should it be killed instead, this side ends them.
local guard = require('eca.guard')
local intents = require('eca.intents')
local python = require('eca.python')

local M = {}

---@class eca.Intent
---@field name string
---@field payload table<string, any>

local METHOD = '%s:function:EcaIntent'
--- Exit status of a host whose environment lacks something.
local CANNOT_START = 78
--- Lines of the host's error output that are kept.
local TAIL = 20
local REMEDY = '`:Eca restart` starts it again'

---@type 'stopped'|'running'|'shared'|'failed'
local state = 'stopped'
local channel ---@type integer?
local folders ---@type string[]?
local answered = false
local unanswered = {} ---@type eca.Intent[]
local stderr = { '' }
local told = false -- that the host does not run, since Neovim last waited for its user

--- The file that both sides log to.
---@return string
function M.log_path()
  return vim.fs.joinpath(vim.fn.stdpath('log') --[[@as string]], 'eca.log')
end

--- Write a line to the log.
---@param text string
function M.log(text)
  local line = ('%s ERROR view: %s'):format(os.date('%Y-%m-%d %H:%M:%S'), text)
  vim.fn.mkdir(vim.fs.dirname(M.log_path()), 'p')
  vim.fn.writefile(vim.split(line, '\n'), M.log_path(), 'a')
end

--- The folders the agent works in, the same as long as Neovim runs.
---@return string[] absolute paths
function M.folders()
  folders = folders or { vim.fs.root(0, { '.git' }) or vim.fn.getcwd() }
  return folders
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
  settings.log_path = M.log_path()
  local payload = {
    settings = settings,
    folders = M.folders(),
    editor = 'Neovim ' .. tostring(vim.version()),
    pid = vim.fn.getpid(),
  }
  return { name = 'attach', payload = payload }
end

---@param intent eca.Intent
local function transmit(intent)
  if state == 'shared' then
    vim.fn.EcaIntent(intent.name, intent.payload)
  elseif channel then
    local method = METHOD:format(python.package())
    vim.rpcnotify(channel, method, { intent.name, intent.payload })
  end
end

--- Tell of a host that does not run; what follows from the same key is not told again.
---@param level 'error'|'warn'
---@param line string
local function tell(level, line)
  if not told then
    told = true
    require('eca.notify').show(level, line)
    vim.schedule(function()
      told = false
    end)
  end
end

---@param fault string
local function fail(fault)
  state, channel, answered = 'failed', nil, false
  require('eca.frames').forget()
  require('eca.adrift').show()
  tell('error', fault)
end

---@return string line the last one the host wrote
local function last_words()
  for place = #stderr, 1, -1 do
    if vim.trim(stderr[place]) ~= '' then
      return vim.trim(stderr[place])
    end
  end
  return ''
end

---@param code integer
local function exited(_, code)
  if vim.v.exiting ~= vim.NIL then
    return
  end
  guard.finish()
  local last = last_words()
  if code == CANNOT_START then
    fail(last)
    return
  end
  M.log(table.concat(stderr, '\n'))
  local said = last ~= '' and (': ' .. last) or ''
  fail(('the host ended (%d), %s%s'):format(code, REMEDY, said))
end

---@param lines string[] the first continues the last one told
local function listen(_, lines)
  stderr[#stderr] = stderr[#stderr] .. lines[1]
  vim.list_extend(stderr, lines, 2)
  stderr = vim.list_slice(stderr, math.max(1, #stderr - TAIL))
end

---@return boolean started
local function launch()
  local command, told = python.find()
  if not command then
    fail(told)
    return false
  end
  stderr = { '' }
  local script = vim.fs.joinpath(python.package(), 'nvim', 'launch.py')
  local options = { rpc = true, detach = true, on_stderr = listen, on_exit = exited }
  channel = vim.fn.jobstart({ command, '-I', script, python.package() }, options)
  state = 'running'
  return true
end

--- Start the host and tell it all that it, or one before it, has not answered.
local function start()
  if python.shared() then
    state = 'shared'
  elseif not launch() then
    return
  end
  transmit(attach())
  for _, intent in ipairs(unanswered) do
    transmit(intent)
  end
end

--- Start the host after one that ended: it begins with a server of its own, nothing is restarted.
---@param payload? table<string, any> of the intent `start`
local function start_again(payload)
  local demo = payload and payload.demo or false
  table.insert(unanswered, 1, { name = 'start', payload = { restart = false, demo = demo } })
  start()
end

--- Send an intent; the host starts when it does not run. Never waits.
---@param name string see `eca.intents`
---@param payload? table<string, any>
function M.send(name, payload)
  assert(intents[name], name)
  if state == 'failed' and name == 'start' then
    return start_again(payload)
  end
  local intent = { name = name, payload = payload or vim.empty_dict() }
  if not answered then
    unanswered[#unanswered + 1] = intent
  end
  if state == 'stopped' then
    start()
  elseif state == 'failed' then
    tell('warn', 'the host does not run, ' .. REMEDY)
  else
    transmit(intent)
  end
end

--- The host gave a sign of life: what was sent to it has arrived.
function M.alive()
  if not answered then
    answered, unanswered = true, {}
  end
end

--- Remember a process group that must not outlive the host. Called by the host.
---@param group integer process id of its leader
function M.guard(group)
  M.alive()
  guard.watch(group)
end

return M
