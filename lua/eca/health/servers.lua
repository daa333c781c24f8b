--- The servers in `:checkhealth eca`: a section for each that is configured or on PATH, and the
--- process that shakes hands with all of them at once.
---
--- Rules kept here:
--- - Neovim waits for the rows, at most PATIENCE in all, and never for the servers to end: they end
---   in the background, also if Neovim does.
--- - The settings go over standard input, which no other user can read: they may have keys.
local python = require('eca.host.python')
local scan = require('eca.text.scan')
local servers = require('eca.state.servers')

local M = {}

M.PATIENCE = 5000 -- ms
M.ANSWER = 4 -- seconds that a server has, less than PATIENCE, because Python has to start
local STEP = 20 -- ms

--- A line of the report: its level, its text, and advice.
---@alias eca.HealthRow ['ok'|'info'|'warn'|'error', string, string[]]

---@class eca.Probes
---@field rows table<string, eca.HealthRow[]> by the name of the server
---@field left table<string, true> names whose rows are not complete
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
      vim.list_extend(probes.rows[row.name], row.rows)
      probes.left[row.name] = not row.done or nil
    end
  end
end

---@param names string[]
---@return string
local function request(names)
  local told = vim.tbl_map(function(server)
    local protocol, mcp = server.protocol, server.mcp
    return { command = server.command, env = server.env, protocol = protocol, mcp = mcp }
  end, servers.options())
  return vim.json.encode({
    names = names,
    settings = { servers = told },
    folder = require('eca.host.workspace').folders()[1],
    seconds = M.ANSWER,
  }) .. '\n'
end

--- Start to probe servers.
---@param names string[]
---@return eca.Probes
local function start_probes(names)
  local probes = { rows = {}, left = {}, started = vim.uv.now() } ---@type eca.Probes
  for _, name in ipairs(names) do
    probes.rows[name], probes.left[name] = {}, true
  end
  local command = python.find()
  if not command or #names == 0 then
    probes.fault = 'the Python host cannot be started'
    return probes
  end
  local options = { stdin = true, stdout = reader(probes), text = true, detach = true }
  local started, process = pcall(
    vim.system,
    python.run_module(command, 'nvim.probes'),
    options,
    function(result)
      local lines = vim.split(scan.trim(result.stderr), '\n')
      probes.fault = lines[#lines]
    end
  )
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
    return probes.fault ~= nil or next(probes.left) == nil
  end, STEP)
  for name in pairs(probes.left) do
    local row = { 'warn', 'not probed: ' .. (probes.fault or 'the probe is too slow'), {} }
    table.insert(probes.rows[name], row)
  end
end

local health = vim.health

local ECA = 'eca'
--- The remedies for a missing `eca`; the last one names the servers that are there.
local GET_SERVER = {
  'get the server, eca, from the releases of editor-code-assistant/eca on GitHub (docs: eca.dev)',
  'put it on your PATH or set server.command, and restart Neovim',
  'then log in to a model provider: :Eca login in the chat',
  'or talk to an agent that speaks ACP: :Eca server lists all; there now: %s',
}

--- The names of the servers to report, `eca` first: those of the options, and those on PATH.
---@param options table<string, eca.options.Server>
---@return string[]
local function names(options)
  local found = vim.tbl_filter(function(name)
    return name ~= ECA
      and (options[name] or servers.known()[name] and not servers.how_to_install(name))
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
function M.start()
  local options = servers.options()
  local all = names(options)
  local probed = vim.tbl_filter(function(name)
    return name ~= ECA or not servers.how_to_install(ECA)
  end, all)
  return { options = options, names = all, probes = start_probes(probed) }
end

--- Report what the probes have found.
---@param started eca.ServersHealth
---@param complaints string[] about all options
function M.report(started, complaints)
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
    for _, row in ipairs(started.probes.rows[name] or {}) do
      local level, text, advice = unpack(row)
      health[level](text, #advice > 0 and advice or nil)
    end
    local idle = (started.options[name] or {}).idle or 0
    if idle > 0 then
      health.info(('it is ended after %g minutes without use: the option idle'):format(idle))
    end
    report_options(name, complaints)
  end
end

return M
