--- Chooses the Python that runs the host.
---
--- Rules kept here: it is the first of the option `python`, the plugin's own environment,
--- `g:python3_host_prog`, and `python3` on PATH.
local M = {}

local INSTALL = 'run :Eca install'

--- The plugin's folder, with links resolved.
---@return string
function M.root()
  local this = debug.getinfo(1, 'S').source:sub(2)
  return vim.fn.fnamemodify(vim.uv.fs_realpath(this) or this, ':p:h:h:h:h')
end

--- The folder of the Python package.
---@return string
function M.package()
  return vim.fs.joinpath(M.root(), 'rplugin', 'python3', 'eca_nvim')
end

--- The Python of the environment that `:Eca install` and `make` create.
---@return string
function M.own()
  return vim.fs.joinpath(M.root(), '.venv', 'bin', 'python')
end

---@return string command
---@return string remedy if it is missing or unsuitable
local function choose()
  local option = require('eca.config').get().python
  if option then
    return vim.fs.normalize(option), "fix 'python', :Eca restart"
  elseif vim.fn.executable(M.own()) == 1 then
    return M.own(), INSTALL
  elseif vim.g.python3_host_prog then
    return vim.fs.normalize(vim.g.python3_host_prog), INSTALL
  end
  local there = vim.fn.executable('python3') == 1
  return 'python3', there and INSTALL or 'install Python 3.11+, then :Eca install'
end

--- Find the Python to run.
---@return string? command nil if there is none
---@return string message the remedy if it is unsuitable; without a command, remedy and fault
function M.find()
  local command, remedy = choose()
  if vim.fn.executable(command) == 1 then
    return command, remedy
  end
  return nil, ('%s: no %s'):format(remedy, command)
end

--- Is the plugin registered by `:UpdateRemotePlugins`? Its function is defined at its first use.
---@return boolean
local function is_registered()
  return vim.fn.exists('*EcaIntent') == 1 or vim.fn.exists('#FuncUndefined#EcaIntent') == 1
end

--- Does the shared host of `:UpdateRemotePlugins` run the plugin? It does if the plugin is
--- registered there, the option `python` is not set, and the plugin's own environment was not
--- built.
---@return boolean
function M.shared()
  return is_registered()
    and not require('eca.config').get().python
    and vim.fn.executable(M.own()) == 0
end

return M
