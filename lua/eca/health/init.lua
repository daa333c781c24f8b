--- `:checkhealth eca`: checks everything the plugin needs, with a remedy for each fault. A process
--- shakes hands with all servers at once that are configured or on PATH.
---
--- Rules kept here:
--- - Neovim waits for the servers' rows, at most PATIENCE in all, and never for the servers to end:
---   they end in the background, also if Neovim does.
--- - The settings go over standard input, which no other user can read: they may have keys.
local buffers = require('eca.chat.buffers')
local config = require('eca.config')
local log = require('eca.host.log')
local python = require('eca.host.python')
local scan = require('eca.text.scan')
local servers = require('eca.state.servers')
local winbar = require('eca.window.winbar')

local M = {}

---@class eca.HealthReport what the checks write into, as `vim.health` is
---@field start fun(title: string)
---@field ok fun(text: string)
---@field info fun(text: string)
---@field warn fun(text: string, advice?: string|string[])
---@field error fun(text: string, advice?: string|string[])

local health = vim.health ---@type eca.HealthReport

local MODULES = 'import sys; assert sys.version_info >= (3, 11), '
  .. '"this is Python %d.%d, but 3.11 or newer is required" % sys.version_info[:2]; '
  .. 'import pynvim, anyio, msgpack, msgspec, unidiff; print(sys.version.split()[0])'

local function check_python()
  health.start('Python host')
  local path, remedy = python.find()
  if not path then
    health.error(remedy)
    return
  end
  local how = { text = true, timeout = 10000 }
  local started, process = pcall(vim.system, { path, '-I', '-c', MODULES }, how)
  local result = started and process:wait() or { stderr = tostring(process) }
  local works = result.code == 0
  local output = scan.trim(works and result.stdout or result.stderr)
  if works then
    health.ok(('Python %s with all modules: %s'):format(output, path))
    return
  end
  local last = vim.split(output, '\n')
  health.error(path .. ': ' .. last[#last], remedy)
end

---@param complaints string[]
local function check_options(complaints)
  health.start('Options')
  for _, complaint in ipairs(complaints) do
    health.warn(complaint)
  end
  if #complaints == 0 then
    health.ok('vim.g.eca is valid')
  end
end

--- What an older Neovim does in another way, or does not do.
local OLDER = {
  'before 0.11, the last command of a terminal is not known: its last lines are sent instead',
  'before 0.11, only <C-x><C-o> asks for completion by hand in the input',
}

local function check_neovim()
  health.start('Neovim')
  health.ok('Neovim ' .. tostring(vim.version())) -- plugin/eca.lua refuses an older one
  if vim.fn.has('nvim-0.11') == 0 then
    vim.tbl_map(health.info, OLDER)
  end
end

--- Does a plugin draw into a buffer? Neovim itself and language clients do not count.
---@param buf integer
---@param namespace integer
---@return boolean
local function draws(buf, namespace)
  local all = { details = true, limit = 50 }
  local marks = vim.api.nvim_buf_get_extmarks(buf, namespace, 0, -1, all)
  return vim.iter(marks):any(function(mark)
    local details = mark[4]
    return details.conceal ~= nil or details.virt_text ~= nil or details.virt_lines ~= nil
  end)
end

--- Plugins that draw Markdown would draw over what the chat draws.
local function check_decorations()
  health.start('Drawing')
  local found = {} ---@type table<string, true>
  for _, id in ipairs(buffers.ids()) do
    for name, namespace in pairs(vim.api.nvim_get_namespaces()) do
      local is_others = not (name:find('^eca') or name:find('^n?vim[%._]'))
      found[name] = is_others and draws(buffers.ensure(id).buf, namespace) or found[name] or nil
    end
  end
  local names = vim.tbl_keys(found)
  table.sort(names)
  if #names > 0 then
    local who = scan.trim(table.concat(names, ', '))
    health.warn('drawn over the chat, too: ' .. who, 'leave the filetype eca-chat out there')
  else
    health.ok('no other plugin draws over the chat')
  end
end

local DISABLE_WINBAR = 'disable its winbar there; with lualine: disabled_filetypes = { winbar = '
  .. "{ 'eca-chat', 'eca-input' } }"

--- The winbars of the chat's windows show trust, pending requests and contexts.
local function check_winbars()
  health.start('Winbars')
  local foreign = vim.tbl_filter(winbar.is_foreign, vim.api.nvim_list_wins())
  if #foreign > 0 then
    health.warn('another plugin draws the winbars of the chat', DISABLE_WINBAR)
  else
    health.ok('no other plugin draws the winbars of the chat')
  end
end

--- Who opens the menu in the input.
local function check_completion()
  health.start('Completion')
  local plugin = require('eca.completion.place').driver(vim.api.nvim_get_current_buf())
  local setting = config.get().completion
  if not setting then
    health.info("off: the option 'completion' is false")
  elseif plugin then
    health.ok(plugin .. ' opens the menu in the input, and asks the language client eca')
  elseif type(setting) == 'table' and not setting.auto then
    health.info("no menu opens by itself: the option 'completion.auto' is false")
  else
    health.ok("Vim's own menu opens in the input")
  end
end

--- Who draws a text at the cursor, in code.
local function check_inline()
  health.start('Inline completion')
  local inline, setting = require('eca.inline'), config.get().completion
  local rivals = table.concat(inline.rivals(), ', ')
  if not (type(setting) == 'table' and setting.inline) then
    health.info("off: the option 'completion.inline', see :help eca-inline")
  elseif rivals ~= '' then
    health.warn('drawn at the cursor, too: ' .. rivals, 'turn off all but one of them')
  else
    health.ok('no other plugin draws a text at the cursor')
  end
end

--- Who offers code actions of ours.
local function check_code_actions()
  health.start('Code actions')
  local attached = #vim.lsp.get_clients({ name = 'eca-actions' }) > 0
  if not config.get().code_actions then
    health.info("off: the option 'code_actions'; :Eca act lists the same")
  elseif attached then
    health.ok('the language client eca-actions offers them in files of text')
  else
    health.ok('on: the language client eca-actions starts with the next file that is opened')
  end
end

-- The servers -----------------------------------------------------------------------------------

M.PATIENCE = 5000 -- ms that Neovim waits for the rows of all servers
M.ANSWER = 4 -- seconds that a server and Python have to start, less than PATIENCE
local STEP = 20 -- ms
local CHECKPOINTS = '' -- no server has this name

--- A line of the report: its level, its text, and advice.
---@alias eca.HealthRow ['ok'|'info'|'warn'|'error', string, string[]]

---@class eca.Probes
---@field names string[]
---@field rows table<string, eca.HealthRow[]> by the name of the server
---@field fault? string why there will be no more
---@field started integer ms

--- Reads what is printed; the last line may be incomplete.
---@param probes eca.Probes
---@return fun(fault?: string, data?: string)
local function reader(probes)
  local rest = ''
  return function(_, data)
    rest = rest .. (data or '')
    local lines = vim.split(rest, '\n', { plain = true })
    rest = table.remove(lines)
    for _, row in ipairs(vim.tbl_map(vim.json.decode, lines)) do
      probes.rows[row.name] = row.rows
    end
  end
end

---@param names string[]
---@return string
local function request(names)
  local settings = { checkpoints = config.get().checkpoints }
  settings.store_path = vim.fs.joinpath(vim.fn.stdpath('state') --[[@as string]], 'eca')
  settings.install = { folder = servers.folder() }
  settings.servers = vim.tbl_map(function(server)
    local protocol, mcp, paths = server.protocol, server.mcp, server.paths
    local told = { command = server.command, env = server.env, protocol = protocol }
    told.mcp, told.paths = mcp, paths
    return told
  end, servers.options())
  local seconds, microseconds = vim.uv.gettimeofday()
  return vim.json.encode({
    names = vim.tbl_filter(function(name)
      return name ~= CHECKPOINTS
    end, names),
    settings = settings,
    folders = require('eca.host.workspace').folders(),
    deadline = seconds + microseconds / 1e6 + M.ANSWER,
  }) .. '\n'
end

--- Start to probe servers.
---@param names string[]
---@return eca.Probes
local function start_probes(names)
  local probes = { names = names, rows = {}, started = vim.uv.now() } ---@type eca.Probes
  local command = python.find()
  if not command then
    probes.fault = 'the Python host cannot be started'
    return probes
  end
  local how = { stdin = true, stdout = reader(probes), text = true, detach = true }
  local probe = python.run_module(command, 'nvim.probes')
  local started, process = pcall(vim.system, probe, how, function(result)
    local lines = vim.split(scan.trim(result.stderr), '\n')
    probes.fault = lines[#lines]
  end)
  if started then
    process:write(request(names))
  else
    probes.fault = tostring(process)
  end
  return probes
end

--- Wait until all rows are there, or the time is over.
---@param probes eca.Probes
local function wait_for(probes)
  local spent = vim.uv.now() - probes.started
  vim.wait(math.max(0, M.PATIENCE - spent), function()
    return probes.fault ~= nil or vim.tbl_count(probes.rows) == #probes.names
  end, STEP)
  local missing = { 'warn', 'not probed: ' .. (probes.fault or 'the probe is too slow'), {} }
  for _, name in ipairs(probes.names) do
    probes.rows[name] = probes.rows[name] or { missing }
  end
end

local ECA = 'eca'
--- The remedies for a missing `eca`; the last one names the servers that are there.
local GET_SERVER = {
  ':Eca install eca shows what it downloads, and installs that',
  'or get the server, eca, from the releases of editor-code-assistant/eca on GitHub (eca.dev)',
  'and put it on your PATH or set server.command, and restart Neovim',
  'then log in to a model provider: :Eca login in the chat',
  'or talk to an agent that speaks ACP: :Eca server lists all; there now: %s',
}

--- The names of the servers to report, `eca` first: those of the options, those on PATH, and what
--- is installed.
---@param configured table<string, eca.options.Server>
---@return string[]
local function names(configured)
  local installed = servers.installed()
  local found = vim.tbl_filter(function(name)
    local is_there = servers.known()[name] and not servers.how_to_install(name)
    return name ~= ECA and (configured[name] or is_there or vim.list_contains(installed, name))
  end, servers.names())
  return { ECA, unpack(found) }
end

--- What is wrong with the options of a server.
---@param name string
---@param complaints string[] about all options
local function report_options(name, complaints)
  local prefixes = { ("'servers.%s."):format(name), name == ECA and "'server." or nil }
  for _, complaint in ipairs(complaints) do
    for _, prefix in ipairs(prefixes) do
      if complaint:find(prefix, 1, true) then
        health.warn(complaint)
      end
    end
  end
end

---@class eca.ServersHealth
---@field options table<string, eca.options.Server>
---@field names string[]
---@field probes eca.Probes

--- Start to probe the servers.
---@return eca.ServersHealth
local function start_all()
  local configured = servers.options()
  local all = names(configured)
  local probed = vim.tbl_filter(function(name)
    return name ~= ECA or not servers.how_to_install(ECA)
  end, all)
  probed[#probed + 1] = CHECKPOINTS
  return { options = configured, names = all, probes = start_probes(probed) }
end

--- Report the rows of a server, or those about checkpoints.
---@param probes eca.Probes
---@param name string
local function report(probes, name)
  for _, row in ipairs(probes.rows[name] or {}) do
    local level, text, advice = unpack(row)
    health[level](text, #advice > 0 and advice or nil)
  end
end

--- Report what the probes have found.
---@param started eca.ServersHealth
---@param complaints string[] about all options
local function report_servers(started, complaints)
  wait_for(started.probes)
  for _, name in ipairs(started.names) do
    health.start(name == ECA and 'ECA server' or ('Server %s'):format(name))
    if name == ECA and servers.how_to_install(ECA) then
      local others = table.concat(started.names, ', ', 2)
      local remedies = vim.tbl_map(function(remedy)
        return remedy:format(others ~= '' and others or 'none')
      end, GET_SERVER)
      health.warn('no eca on PATH: the built-in demo agent answers', remedies)
    end
    report(started.probes, name)
    local idle = (started.options[name] or {}).idle or 0
    if idle > 0 then
      health.info(('it is ended after %g minutes without use: the option idle'):format(idle))
    end
    report_options(name, complaints)
  end
  health.start('Checkpoints')
  report(started.probes, CHECKPOINTS)
end

--- Run by `:checkhealth eca`.
---@param report_to? eca.HealthReport
function M.check(report_to)
  health = report_to or vim.health
  local started, complaints = start_all(), {} ---@type eca.ServersHealth, string[]
  config.check(config.from_global(), complaints)
  check_neovim()
  check_python()
  report_servers(started, complaints)
  check_options(complaints)
  check_winbars()
  check_decorations()
  check_completion()
  check_inline()
  check_code_actions()
  health.start('Log')
  health.info(log.path())
end

return M
