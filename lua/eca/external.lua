--- Opens files and links with the system's own program.
---
--- Rules kept here: only web and mail links and files that exist; a link is data from a model.
local M = {}

local SCHEMES = { 'http', 'https', 'mailto' }

---@param target string
---@return boolean
local function is_allowed(target)
  local scheme = target:match('^(%a[%w+.-]*):')
  if scheme and vim.list_contains(SCHEMES, scheme:lower()) then
    return true
  end
  return vim.startswith(target, '/') and vim.uv.fs_stat(target) ~= nil
end

--- Open a link or an absolute path; the user is told when that does not work.
---@param target string
function M.open(target)
  local notify = require('eca.notify')
  if not is_allowed(target) then
    notify.warn('not opened, neither a web link nor a file: ' .. target)
    return
  end
  local _, fault = vim.ui.open(target)
  if fault then
    notify.warn(fault)
  end
end

return M
