--- The log, one file for both sides.
local M = {}

--- Where it is.
---@return string
function M.path()
  return vim.fs.joinpath(vim.fn.stdpath('log') --[[@as string]], 'eca.log')
end

--- Write what went wrong on this side, or at another level what went on.
---@param text string
---@param level? 'INFO'|'ERROR' as the host names them
function M.write(text, level)
  local form = '%s %s view: %s'
  local line = form:format(os.date('%Y-%m-%d %H:%M:%S'), level or 'ERROR', text)
  vim.fn.mkdir(vim.fs.dirname(M.path()), 'p')
  vim.fn.writefile(vim.split(line, '\n'), M.path(), 'a')
end

return M
