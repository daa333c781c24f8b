--- What `:Eca` does with the plugin itself: `help` opens its own pages of Neovim's help, `log` its
--- log, `install` builds its own Python environment.
---
--- Rules kept here:
--- - Help tags are generated first if no plugin manager did so. A message of one line says if there
---   is no page.
--- - The build step of the installation runs in the plugin's folder, without blocking Neovim. Its
---   output goes to the log; the user gets one line at its start and one at its end.
--- - A host that has failed is started again, and gets everything that was held for it.
local files = require('eca.files')
local host = require('eca.host')
local log = require('eca.host.log')
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')
local python = require('eca.host.python')
local scan = require('eca.text.scan')
local to_code = require('eca.window.to_code')

local M = {}

---@param topic string
---@return boolean found
local function show(topic)
  local found, fault = pcall(vim.cmd.help, topic)
  if found then
    to_code.uncover()
  elseif not tostring(fault):find('E149', 1, true) then
    notify.error(tostring(fault))
  end
  return found
end

--- Generate the help tags, unless a plugin manager did so.
local function make_tags()
  local folder = vim.fs.joinpath(python.ROOT, 'doc')
  if not vim.uv.fs_stat(vim.fs.joinpath(folder, 'tags')) and vim.uv.fs_access(folder, 'W') then
    vim.cmd.helptags(vim.fn.fnameescape(folder))
  end
end

--- All topics of the help.
---@return string[]
function M.topics()
  make_tags()
  local topics = {} ---@type table<string, true>
  for _, prefix in ipairs({ 'eca-', ':Eca-' }) do
    for _, tag in ipairs(vim.fn.getcompletion(prefix, 'help')) do
      if vim.startswith(tag, prefix) then
        topics[tag:sub(#prefix + 1)] = true
      end
    end
  end
  return vim.tbl_keys(topics)
end

--- Open the help, at a topic if one is given: `events`, `:Eca-diff`, `eca-option-layout`.
---@param topic? string
function M.help(topic)
  make_tags()
  -- `:help` opens the nearest page for an unknown word, so only existing tags are asked for.
  for _, tag in ipairs(topic and { 'eca-' .. topic, ':Eca-' .. topic, topic } or { 'eca.txt' }) do
    if vim.list_contains(vim.fn.getcompletion(tag, 'help'), tag) and show(tag) then
      return
    end
  end
  notify.warn(('no help on %s; :Eca help shows the contents'):format(topic or 'eca'))
end

--- Open the log at its end. Servers write into it, so it has no modelines.
function M.log()
  local path = vim.fn.fnamemodify(log.path(), ':p')
  local buf, fault = files.add(path)
  if not buf then
    notify.warn(fault --[[@as string]])
    return
  end
  vim.bo[buf].modeline = false
  others.split_by('split')
  local unshown = files.show(path, true)
  if unshown then
    return notify.warn(unshown)
  end
  vim.cmd('normal! G')
  to_code.uncover()
end

local BUILD = { 'python3', '-m', 'scripts.setup', 'plugin' }

--- The message when the environment is ready, by the state of the host.
local READY = {
  failed = 'the environment is ready: starting the host',
  stopped = 'the environment is ready: the first prompt will use it',
  running = 'the environment is ready: restart Neovim to use it',
}
READY.shared, READY.ended = READY.running, READY.failed

---@param result vim.SystemCompleted
local function ended(result)
  python.building = nil
  local output = (result.stdout or '') .. (result.stderr or '')
  log.write(output, result.code == 0 and 'INFO' or 'ERROR')
  if result.code == 0 then
    notify.info(READY[host.revive()])
  else
    local lines = vim.split(scan.trim(output), '\n', { plain = true })
    local fault = scan.trim(lines[#lines])
    notify.error(('cannot install: %s (see :Eca log)'):format(fault))
    host.explain(('%s, :Eca log says more: %s'):format(python.INSTALL, fault))
  end
end

--- Build the environment, once at a time.
function M.install()
  if python.building then
    notify.info('the environment is already being built')
    return
  elseif vim.fn.executable(BUILD[1]) == 0 then
    notify.error('no python3 on PATH: install Python 3.11 or newer and try again')
    return
  end
  local place = python.place()
  local elsewhere = place ~= python.ROOT and { place } or {}
  notify.info('building the environment in ' .. place)
  python.building = 'its environment is being built, which takes a minute'
  host.explain(python.building)
  local build = vim.list_extend(vim.deepcopy(BUILD), elsewhere)
  vim.system(build, { cwd = python.ROOT, text = true }, vim.schedule_wrap(ended))
end

return M
