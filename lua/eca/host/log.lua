--- The log: one file for both sides.
---
--- This side hands its lines to Python (`eca_nvim/nvim/logs.py`), which hides what looks like a key
--- and writes them, whether or not a host runs. If it cannot be written there is no log, and one
--- message says so.
local python = require('eca.host.python')
local scan = require('eca.text.scan')

local M = {}

local waiting = {} ---@type string[] lines
local is_writing = false

--- The path of the log.
---@return string
function M.path()
  return vim.fs.joinpath(vim.fn.stdpath('log') --[[@as string]], 'eca', 'eca.log')
end

---@param fault string
local function warn(fault)
  require('eca.host.unwritable').tell(M.path(), fault, 'cannot write the log: ' .. fault)
end

--- Start a process that writes the waiting lines; one at a time, so that they stay in order.
local function write_waiting()
  local command = python.find()
  if not command then
    return
  end
  -- Detached, so that it goes on when Neovim exits. Other users can read arguments, but no input.
  local options = { stdin = table.concat(waiting, '\0'), text = true, detach = true }
  local function ended(result)
    is_writing = false
    if result.code ~= 0 then
      local lines = vim.split(scan.trim(result.stderr), '\n')
      warn(lines[#lines])
    end
    if #waiting > 0 then
      write_waiting()
    end
  end
  waiting, is_writing = {}, true
  local words = python.run_module(command, 'nvim.logs', M.path())
  local started, fault = pcall(vim.system, words, options, vim.schedule_wrap(ended))
  if not started then
    is_writing = false
    warn(tostring(fault))
  end
end

--- Write a line to the log.
---@param text string
---@param level? 'INFO'|'ERROR' as the host names them
function M.write(text, level)
  local form = '%s %s view: %s\n'
  waiting[#waiting + 1] = form:format(os.date('%Y-%m-%d %H:%M:%S'), level or 'ERROR', text)
  if not is_writing or vim.v.exiting ~= vim.NIL then -- an exiting Neovim hears no process end
    write_waiting()
  end
end

return M
