--- Runs what only adds comfort, such as colours, and what belongs to others, such as an autocommand
--- of the user: if it fails, everything else goes on.
---
--- Rules kept here:
--- - Nothing that it raises reaches the caller.
--- - The log gets each failure once. One message says what is missing, and why.
--- - What is forbidden only now (E565, the command-line window) is raised: it is drawn later.
local M = {}

--- Errors that mean "not now": text locked, command-line window, sandbox, <C-c> for something else.
M.LATER = { 'E565:', 'E523:', 'E11:', 'E12:', 'E48:', 'Keyboard interrupt' }

local told = {} ---@type table<string, true> what is missing
local logged = {} ---@type table<string, true> failures

---@param fault string
---@return boolean
function M.means_later(fault)
  for _, code in ipairs(M.LATER) do
    if fault:find(code, 1, true) then
      return true
    end
  end
  return false
end

--- Report a failure: the first of its kind in a message, each in the log.
---@param what string what is missing, as the beginning of a sentence
---@param fault string
function M.failed(what, fault)
  local line = ('%s: %s'):format(what, fault)
  if not logged[line] then
    logged[line] = true
    require('eca.host.log').write(line)
  end
  if not told[what] then
    told[what] = true
    if not require('eca.host.unwritable').is_reason(fault) then
      local short = require('eca.ui.others').words(fault)
      require('eca.ui.notify').warn(('%s: %s'):format(what, short))
    end
  end
end

--- Run something. A failure is reported, unless the caller must try again later.
---@param what string what is missing if it fails, as the beginning of a sentence
---@param run fun(...: any): any
---@param ... any
---@return boolean worked
---@return any result
function M.try(what, run, ...)
  local worked, result = pcall(run, ...)
  if worked then
    return true, result
  end
  local fault = tostring(result)
  if M.means_later(fault) then
    error(result, 0)
  end
  M.failed(what, fault)
  return false, nil
end

return M
