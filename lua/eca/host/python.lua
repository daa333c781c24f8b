--- The Python that runs the host: which one it is, and the host's process.
---
--- Rules kept here:
--- - It is the first of the option `python`, the plugin's own environment, `g:python3_host_prog`,
---   and `python3` on PATH.
--- - The process is detached: Neovim can exit at once, and the host ends its server when its input
---   closes. Its guardian (`guardian.py`), which it starts first, ends what the host cannot end.
local M = {}

--- The remedy if packages are missing.
M.INSTALL = 'run :Eca install'

--- Why the host is not running while its environment is being built; nil: it is not being built.
M.building = nil ---@type string?

local this = debug.getinfo(1, 'S').source:sub(2)
--- The plugin's folder, with links resolved.
M.ROOT = vim.fn.fnamemodify(vim.uv.fs_realpath(this) or this, ':p:h:h:h:h')
--- The folder of the Python package.
M.PACKAGE = vim.fs.joinpath(M.ROOT, 'rplugin', 'python3', 'eca_nvim')

---@param folder string
---@return string
local function python_in(folder)
  return vim.fs.joinpath(folder, '.venv', 'bin', 'python')
end

--- Where the environment is, or will be: in the plugin's folder, or beside what `:Eca install` gets
--- if nothing can be written there, as in the store of Nix.
---@return string
function M.place()
  local is_here = vim.fn.executable(python_in(M.ROOT)) == 1 or vim.uv.fs_access(M.ROOT, 'W')
  local data = vim.fn.stdpath('data') --[[@as string]]
  return is_here and M.ROOT or vim.fs.joinpath(data, 'eca', 'python')
end

--- The Python of the environment that `:Eca install` and `make` create.
---@return string
function M.own()
  return python_in(M.place())
end

---@return string command
---@return string remedy if it is missing or unsuitable
local function choose()
  local option = require('eca.config').get().python
  if option then
    return vim.fs.normalize(option), "fix 'python', :Eca restart"
  elseif vim.fn.executable(M.own()) == 1 then
    return M.own(), M.INSTALL
  elseif vim.g.python3_host_prog then
    return vim.fs.normalize(vim.g.python3_host_prog), M.INSTALL
  end
  local there = vim.fn.executable('python3') == 1
  return 'python3', there and M.INSTALL or 'install Python 3.11+, then :Eca install'
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

--- Does the shared host of `:UpdateRemotePlugins` run the plugin? It does if the plugin is
--- registered there, the option `python` is not set, and the plugin's own environment was not
--- built.
---@return boolean
function M.shared()
  -- The function of a registered plugin is defined at its first use.
  return (vim.fn.exists('*EcaIntent') == 1 or vim.fn.exists('#FuncUndefined#EcaIntent') == 1)
    and not require('eca.config').get().python
    and vim.fn.executable(M.own()) == 0
end

--- Exit code of a host whose environment lacks something. Its last line is the whole message.
M.CANNOT_START = 78
--- Lines of the error output that are kept.
local TAIL = 20

local RUN = 'import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); '
  .. "runpy.run_module('eca_nvim.%s', run_name='__main__')"

--- A Python, alone: no setting of the user reaches it. What it compiles has a place, too.
---@param command string
---@return string[]
local function isolated(command)
  local place = M.place()
  if place == M.ROOT then
    return { command, '-I' }
  end
  return { command, '-I', '-X', 'pycache_prefix=' .. vim.fs.joinpath(place, 'compiled') }
end

--- The command that runs a module of the package as a program of its own.
---@param command string the Python
---@param module string
---@param ... string its arguments
---@return string[]
function M.run_module(command, module, ...)
  local words = { '-c', RUN:format(module), vim.fs.dirname(M.PACKAGE), ... }
  return vim.list_extend(isolated(command), words)
end

---@class eca.HeadStart
---@field settings table<string, any> the name of the server (`server`), and the table `servers`
---@field folder string the working folder

--- Start the process.
---@param head_start? eca.HeadStart the server that it starts before it receives any intent
---@param ended fun(code: integer, output: string[]) called with its exit code and the last lines of
---  its error output when it has exited, unless Neovim exits too
---@return integer? channel nil if it cannot be started
---@return string? fault why, with the remedy
function M.start(head_start, ended)
  local command, remedy = M.find()
  if not command then
    return nil, remedy
  end
  local lines = { '' }
  local function listen(_, data)
    lines[#lines] = lines[#lines] .. data[1] -- continues the last line
    vim.list_extend(lines, data, 2)
    lines = vim.list_slice(lines, math.max(1, #lines - TAIL))
  end
  local function exited(_, code)
    if vim.v.exiting == vim.NIL then
      ended(code, lines)
    end
  end
  local script = vim.fs.joinpath(M.PACKAGE, 'nvim', 'launch.py')
  local options = { rpc = true, detach = true, on_stderr = listen, on_exit = exited }
  local has_form, form = pcall(vim.json.encode, head_start) -- if not, the server starts later
  options.env = head_start and has_form and { NVIM_ECA_SERVER = form } or nil
  local words = vim.list_extend(isolated(command), { script, M.PACKAGE, remedy })
  return vim.fn.jobstart(words, options)
end

return M
