--- The servers in `:checkhealth eca`: a section for each that is configured or on PATH.
local probes = require('eca.health.probes')
local servers = require('eca.state.servers')

local M = {}

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
  return { options = options, names = all, probes = probes.start(probed) }
end

--- Report what the probes have found.
---@param started eca.ServersHealth
---@param complaints string[] about all options
function M.report(started, complaints)
  probes.wait(started.probes)
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
