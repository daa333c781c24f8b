--- The servers in `:checkhealth eca`: a section for each that is configured or on PATH.
local probes = require('eca.health.probes')
local servers = require('eca.state.servers')

local M = {}

local health = vim.health

local ECA = 'eca'
local GET_SERVER = {
  'get the server, eca, from the releases of editor-code-assistant/eca on GitHub (docs: eca.dev)',
  'put it on your PATH or set server.command, and restart Neovim',
  'then log in to a model provider: :Eca login in the chat',
}

--- Does the demo agent answer in the place of this server?
---@param name string
---@param options table<string, eca.options.Server>
---@return boolean
local function is_replaced(name, options)
  local has_command = options[name] and options[name].command ~= nil
  return name == ECA and not has_command and vim.fn.executable(servers.PROGRAMS.eca) == 0
end

--- The names of the servers to report, `eca` first.
---@param options table<string, eca.options.Server>
---@return string[]
local function names(options)
  local found = {} ---@type table<string, true>
  for name in pairs(options) do
    found[name] = true
  end
  for name, program in pairs(servers.PROGRAMS) do
    found[name] = found[name] or vim.fn.executable(program) == 1 or nil
  end
  found[ECA] = nil
  local sorted = vim.tbl_keys(found)
  table.sort(sorted)
  table.insert(sorted, 1, ECA)
  return sorted
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
    return not is_replaced(name, options)
  end, all)
  return { options = options, names = all, probes = probes.start(probed) }
end

--- Report what the probes have found.
---@param started eca.ServersHealth
---@param complaints string[] about all options
function M.report(started, complaints)
  probes.wait(started.probes)
  for _, name in ipairs(started.names) do
    health.start(name == ECA and 'ECA server' or ('Server %s'):format(name))
    if is_replaced(name, started.options) then
      health.warn('no eca on PATH: the built-in demo agent answers', GET_SERVER)
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
