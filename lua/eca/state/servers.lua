--- The servers a chat can talk to, by name, and the one chosen for the chats to come.
---
--- Rules kept here:
--- - The name `eca` stands for the option `server` as a table; `demo` is the built-in agent,
---   `acp-demo` the same one with the other protocol.
--- - What was chosen lasts as long as Neovim, and counts more than the options.
local config = require('eca.config')
local python = require('eca.host.python')

local M = {}

local ECA, DEMO, ACP_DEMO = 'eca', 'demo', 'acp-demo'
M.ECA = ECA

---@class eca.KnownServer
---@field command string[]
---@field install string the command that installs it, or a page about that

local known ---@type table<string, eca.KnownServer>?

--- Servers that need no options when they are on PATH, by name (`server/known.json`).
---@return table<string, eca.KnownServer>
function M.known()
  if not known then
    local path = vim.fs.joinpath(python.PACKAGE, 'server', 'known.json')
    known = vim.json.decode(table.concat(vim.fn.readfile(path), '\n')).servers
  end
  return known
end

--- What the options say of each server, by name; a table in the option `server` is that of `eca`,
--- with the defaults, so `servers.eca` counts before it.
---@return table<string, eca.options.Server>
function M.options()
  local options = config.get()
  local all = vim.deepcopy(options.servers)
  if type(options.server) == 'table' then
    all[ECA] = vim.tbl_extend('keep', all[ECA] or {}, options.server)
  end
  return all
end

--- The folder of what `:Eca install` has installed (`server/installed.py`).
---@return string
function M.folder()
  return vim.fs.joinpath(vim.fn.stdpath('data') --[[@as string]], 'eca', 'servers')
end

--- Has `:Eca install` installed a server?
---@param name string
---@return boolean
local function is_installed(name)
  return vim.uv.fs_stat(vim.fs.joinpath(M.folder(), name, 'state.json')) ~= nil
end

--- The servers that `:Eca install` has installed.
---@return string[] names
function M.installed()
  local names = {} ---@type string[]
  for name in vim.fs.dir(M.folder()) do
    names[#names + 1] = is_installed(name) and name or nil
  end
  table.sort(names)
  return names
end

--- Can a server be started, whatever is installed? A known one needs its program on PATH, or an
--- option that names another.
---@param name string
---@return boolean
local function needs_nothing(name)
  local server = M.known()[name]
  return not server
    or (M.options()[name] or {}).command ~= nil
    or vim.fn.executable(server.command[1]) == 1
end

--- How to install a known server that cannot be started without that; nil for any other.
---@param name string
---@return string?
function M.how_to_install(name)
  local is_there = needs_nothing(name) or is_installed(name)
  return not is_there and M.known()[name].install or nil
end

--- The known servers that need nothing.
local found = setmetatable({}, { __mode = 'k' }) ---@type table<eca.options.Server, string[]>

--- The only agent on PATH if `eca` is not there, else the only one that is installed: a new user
--- gets an answer without any option, and goes on with it when another one is installed.
---@param option eca.options.Server the option `server`; a new table is looked at again
---@return string name `eca`, too, if there are several
local function instead_of_eca(option)
  found[option] = found[option] or vim.tbl_filter(needs_nothing, vim.tbl_keys(M.known()))
  local names = #found[option] > 0 and found[option] or M.installed()
  return #names == 1 and not is_installed(ECA) and names[1] or ECA
end

local chosen ---@type string?

--- The server that the options name; without one `eca`, or what is there instead of it.
---@return string name
function M.default()
  local server = config.get().server
  return type(server) == 'string' and server or instead_of_eca(server)
end

--- The server of chats to come.
---@return string name
function M.next()
  return chosen or M.default()
end

--- Choose the server of chats to come.
---@param name string
function M.choose(name)
  chosen = name
end

local told ---@type string? the default server, as the host knows it

--- The default server, which the host learns now; what is installed later changes it only here.
---@return string name
function M.tell_default()
  told = M.default()
  return told
end

--- The name to send to the host for a server: nil if that is the one that it takes by default.
---@param name string
---@return string?
function M.unless_default(name)
  return name ~= (told or M.default()) and name or nil
end

--- The server that will answer in chats to come: the demo agent stands in for a missing `eca`.
---@return string name
function M.answering()
  local name = M.next()
  return name == ECA and M.how_to_install(ECA) and DEMO or name
end

--- All servers that can be chosen: those of the options, the known ones, those that are installed,
--- and the demo agent.
---@return string[] names
function M.names()
  local names = { [DEMO] = true, [ACP_DEMO] = true, [M.default()] = true }
  for name in pairs(vim.tbl_extend('keep', config.get().servers, M.known())) do
    names[name] = true
  end
  for _, name in ipairs(M.installed()) do
    names[name] = true
  end
  local sorted = vim.tbl_keys(names)
  table.sort(sorted)
  return sorted
end

return M
