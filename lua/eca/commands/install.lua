--- `:Eca install`: build the plugin's own Python environment.
---
--- Rules kept here:
--- - It runs the installation's one build step, in the plugin's folder, and nothing waits for it.
--- - A host that has failed is started again, and hears all that waited for it.
--- - All it writes goes to the log; what the user reads is one line at its start and at its end.
local host = require('eca.host')
local log = require('eca.host.log')
local notify = require('eca.ui.notify')
local python = require('eca.host.python')
local scan = require('eca.text.scan')

local M = {}

local BUILD = { 'python3', '-m', 'scripts.setup', 'plugin' }

--- What follows from an environment that is there, by what the host was doing until then.
local FOLLOWS = {
  failed = 'the environment is ready, the host starts',
  stopped = 'the environment is ready; the first prompt uses it',
  running = 'the environment is ready; the next Neovim uses it',
}
FOLLOWS.shared = FOLLOWS.running

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
  local said = (result.stdout or '') .. (result.stderr or '')
  log.write(said, result.code == 0 and 'INFO' or 'ERROR')
  if result.code == 0 then
    notify.info(FOLLOWS[host.revive()])
  else
    notify.error(('cannot install: %s (see :Eca log)'):format(last_line(said)))
  end
end

--- Build the environment, once at a time.
function M.run()
  if running then
    notify.info('the environment is being built already')
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
