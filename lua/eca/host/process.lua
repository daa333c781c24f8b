--- Starts the host's process, and describes its exit in one line.
---
--- Rules kept here:
--- - It is detached: Neovim can exit at once, and the host ends its server when its input closes.
---   Its guardian (`guardian.py`), which it starts first, ends what the host cannot end.
--- - When it exits, its error output goes to the log, and the last line of it into the message.
local log = require('eca.host.log')
local python = require('eca.host.python')

local M = {}

--- Exit code of a host whose environment lacks something. Its last line is the whole message.
local CANNOT_START = 78
--- Lines of the error output that are kept.
local TAIL = 20

M.REMEDY = 'your next prompt or :Eca restart starts it again'

---@param lines string[]
---@return string
local function last_text(lines)
  for place = #lines, 1, -1 do
    if lines[place]:find('%S') then
      return require('eca.text.scan').trim(lines[place])
    end
  end
  return ''
end

---@param code integer
---@param lines string[] its error output
---@return string
local function describe_exit(code, lines)
  local last = last_text(lines)
  if code == CANNOT_START then
    return last
  end
  log.write(table.concat(lines, '\n'))
  local reason = last ~= '' and ('; it said: ' .. last) or ''
  return ('the plugin host ended, exit code %d: %s%s'):format(code, M.REMEDY, reason)
end

---@class eca.HeadStart
---@field settings table<string, any> the name of the server (`server`), and the table `servers`
---@field folder string the working folder

--- Start the process.
---@param head_start? eca.HeadStart the server that it starts before it receives any intent
---@param ended fun(fault: string, could_start: boolean) called when it has exited, unless Neovim
---  exits too
---@return integer? channel nil if it cannot be started
---@return string? fault why, with the remedy
function M.start(head_start, ended)
  local command, remedy = python.find()
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
      ended(describe_exit(code, lines), code ~= CANNOT_START)
    end
  end
  local script = vim.fs.joinpath(python.package(), 'nvim', 'launch.py')
  local options = { rpc = true, detach = true, on_stderr = listen, on_exit = exited }
  local has_form, form = pcall(vim.json.encode, head_start) -- if not, the server starts later
  options.env = head_start and has_form and { NVIM_ECA_SERVER = form } or nil
  return vim.fn.jobstart({ command, '-I', script, python.package(), remedy }, options)
end

return M
