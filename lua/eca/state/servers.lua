--- The servers a chat can talk to, by name, and the one chosen for the chats to come.
---
--- Rules kept here:
--- - The name `eca` stands for the option `server` as a table; `demo` is the built-in agent,
---   `acp-demo` the same one with the other protocol.
--- - What was chosen lasts as long as Neovim, and counts more than the options.
local config = require('eca.config')

local M = {}

local ECA, DEMO, ACP_DEMO = 'eca', 'demo', 'acp-demo'

--- Programs of servers that need no options when they are on PATH, by name
--- (`server/known.py` has their commands).
M.PROGRAMS = {
  [ECA] = 'eca',
  claude = 'claude-agent-acp',
  codex = 'codex-acp',
  copilot = 'copilot',
  gemini = 'gemini',
  goose = 'goose',
  opencode = 'opencode',
  qwen = 'qwen',
}

local chosen ---@type string?

--- The server that the options name.
---@return string name
function M.default()
  local server = config.get().server
  return type(server) == 'string' and server or ECA
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

--- The name to send to the host for a server: nil if that is the one that it takes by default.
---@param name string
---@return string?
function M.unless_default(name)
  return name ~= M.default() and name or nil
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

--- All servers that can be chosen: those of the options, those on PATH, and the demo agent.
---@return string[] names
function M.names()
  local options = config.get()
  ---@type table<string, true>
  local names = { [DEMO] = true, [ACP_DEMO] = true, [M.default()] = true }
  for name in pairs(options.servers) do
    names[name] = true
  end
  if type(options.server) == 'table' and options.server.command then
    names[ECA] = true
  end
  for name, program in pairs(M.PROGRAMS) do
    names[name] = names[name] or vim.fn.executable(program) == 1 or nil
  end
  local sorted = vim.tbl_keys(names)
  table.sort(sorted)
  return sorted
end

return M
