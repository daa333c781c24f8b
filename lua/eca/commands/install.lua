--- `:Eca install`: builds the plugin's own Python environment.
---
--- Rules kept here:
--- - It runs the build step of the installation, in the plugin's folder, without blocking Neovim.
--- - A host that has failed is started again, and gets everything that was held for it.
--- - Its output goes to the log; the user gets one line at its start and one at its end.
local host = require('eca.host')
local log = require('eca.host.log')
local notify = require('eca.ui.notify')
local python = require('eca.host.python')
local scan = require('eca.text.scan')

local M = {}

local BUILD = { 'python3', '-m', 'scripts.setup', 'plugin' }

--- The message when the environment is ready, by the state of the host.
local READY = {
  failed = 'the environment is ready: starting the host',
  stopped = 'the environment is ready: the first prompt will use it',
  running = 'the environment is ready: restart Neovim to use it',
}
READY.shared, READY.ended = READY.running, READY.failed

local running = false

---@param text string
---@return string
local function last_line(text)
  local trim = scan.trim
  local lines = vim.split(trim(text), '\n', { plain = true })
  return trim(lines[#lines])
end

---@param result vim.SystemCompleted
local function ended(result)
  running = false
  local output = (result.stdout or '') .. (result.stderr or '')
  log.write(output, result.code == 0 and 'INFO' or 'ERROR')
  if result.code == 0 then
    notify.info(READY[host.revive()])
  else
    notify.error(('cannot install: %s (see :Eca log)'):format(last_line(output)))
  end
end

--- Build the environment, once at a time.
function M.run()
  if running then
    notify.info('the environment is already being built')
    return
  elseif vim.fn.executable(BUILD[1]) == 0 then
    notify.error('no python3 on PATH: install Python 3.11 or newer and try again')
    return
  end
  running = true
  notify.info('building the environment in ' .. python.root())
  vim.system(BUILD, { cwd = python.root(), text = true }, vim.schedule_wrap(ended))
end

return M
