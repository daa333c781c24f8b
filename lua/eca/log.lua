--- The log, one file for both sides.
local M = {}

--- Where it is.
---@return string
function M.path()
  return vim.fs.joinpath(vim.fn.stdpath('log') --[[@as string]], 'eca.log')
end

--- Write what went wrong on this side.
---@param text string
function M.write(text)
  local line = ('%s ERROR view: %s'):format(os.date('%Y-%m-%d %H:%M:%S'), text)
  vim.fn.mkdir(vim.fs.dirname(M.path()), 'p')
  vim.fn.writefile(vim.split(line, '\n'), M.path(), 'a')
end

return M
