--- The host's process: started, and its end put into one line.
---
--- Rules kept here:
--- - It is detached: Neovim leaves at once, and the host ends its server when its input closes.
---   What it cannot end its guardian does (`guardian.py`), which it starts first of all.
--- - What it wrote to its error output goes to the log when it ends; its last line is told.
local log = require('eca.host.log')
local python = require('eca.host.python')

local M = {}

--- Exit status of a host whose environment lacks something; its last line is all there is to say.
local CANNOT_START = 78
--- Lines of the error output that are kept.
local TAIL = 20

M.REMEDY = ':Eca restart starts it again'

---@param lines string[]
---@return string
local function last_words(lines)
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
local function obituary(code, lines)
  local last = last_words(lines)
  if code == CANNOT_START then
    return last
  end
  log.write(table.concat(lines, '\n'))
  local said = last ~= '' and (': ' .. last) or ''
  return ('the host ended (%d), %s%s'):format(code, M.REMEDY, said)
end

---@class eca.HeadStart
---@field settings table<string, any> the option `server`
---@field folder string where it works

--- Start it.
---@param head_start? eca.HeadStart the server that it starts before it hears of anything
---@param ended fun(fault: string) called when it has ended, unless Neovim ends too
---@return integer? channel nil when it cannot be started
---@return string? fault why, with the remedy
function M.start(head_start, ended)
  local command, told = python.find()
  if not command then
    return nil, told
  end
  local lines = { '' }
  local function listen(_, data)
    lines[#lines] = lines[#lines] .. data[1] -- it continues the last one
    vim.list_extend(lines, data, 2)
    lines = vim.list_slice(lines, math.max(1, #lines - TAIL))
  end
  local function exited(_, code)
    if vim.v.exiting == vim.NIL then
      ended(obituary(code, lines))
    end
  end
  local script = vim.fs.joinpath(python.package(), 'nvim', 'launch.py')
  local options = { rpc = true, detach = true, on_stderr = listen, on_exit = exited }
  local has_form, form = pcall(vim.json.encode, head_start) -- else it starts with its chat
  options.env = head_start and has_form and { NVIM_ECA_SERVER = form } or nil
  return vim.fn.jobstart({ command, '-I', script, python.package(), told }, options)
end

return M
