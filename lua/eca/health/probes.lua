--- Probes for `:checkhealth`: a process that shakes hands with all servers at once.
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

local RUN = 'import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); '
  .. "runpy.run_module('eca_nvim.nvim.probes', run_name='__main__')"

--- A line of the report: its level, its text, and advice.
---@alias eca.HealthRow ['ok'|'info'|'warn'|'error', string, string[]]

---@class eca.Probes
---@field rows table<string, eca.HealthRow[]> by the name of the server
---@field left table<string, true> names whose rows are not complete
---@field fault? string why there will be no more
---@field started integer ms

---@param probes eca.Probes
---@param line string
local function read(probes, line)
  local row = vim.json.decode(line)
  vim.list_extend(probes.rows[row.name], row.rows)
  probes.left[row.name] = not row.done or nil
end

--- Reads what is printed; the last line may be incomplete.
---@param probes eca.Probes
---@return fun(fault?: string, data?: string)
local function reader(probes)
  local rest = ''
  return function(_, data)
    rest = rest .. (data or '')
    local lines = vim.split(rest, '\n', { plain = true })
    rest = table.remove(lines)
    for _, line in ipairs(lines) do
      read(probes, line)
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
function M.start(names)
  local probes = { rows = {}, left = {}, started = vim.uv.now() } ---@type eca.Probes
  for _, name in ipairs(names) do
    probes.rows[name], probes.left[name] = {}, true
  end
  local command = python.find()
  if not command or #names == 0 then
    probes.fault = 'the Python host cannot be started'
    return probes
  end
  local package = vim.fs.dirname(python.package())
  local options = { stdin = true, stdout = reader(probes), text = true, detach = true }
  local started, process = pcall(
    vim.system,
    { command, '-I', '-c', RUN, package },
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
function M.wait(probes)
  local spent = vim.uv.now() - probes.started
  vim.wait(math.max(0, M.PATIENCE - spent), function()
    return probes.fault ~= nil or next(probes.left) == nil
  end, STEP)
  for name in pairs(probes.left) do
    local row = { 'warn', 'not probed: ' .. (probes.fault or 'the probe is too slow'), {} }
    table.insert(probes.rows[name], row)
  end
end

return M
