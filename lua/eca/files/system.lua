--- What only Linux has, and what stands for it elsewhere: no other file of the view depends on the
--- system. `eca_nvim/system.py` is the same for the host.
local M = {}

--- Folders of files that the system generates when they are read: some have no end, some block.
M.GENERATED = { '/proc', '/sys' }

--- Does a process run? One that has ended, but was not reaped, does not; elsewhere it seems to.
---@param pid integer
---@return boolean
function M.is_running(pid)
  local _, _, fault = vim.uv.kill(pid, 0)
  local file = io.open(('/proc/%d/stat'):format(pid), 'rb')
  local state = file and (file:read('*a') or ''):match('^.*%) (%a)')
  if file then
    file:close()
  end
  return fault ~= 'ESRCH' and state ~= 'Z' and state ~= 'X'
end

return M
