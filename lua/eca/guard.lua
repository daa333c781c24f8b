--- The process group of the server, ended here should the host die without doing so.
---
--- Rules kept here:
--- - One host runs one server at a time; the last one told is the one that may live.
--- - Process ids are used again: the group is signalled only while its leader is the process that
---   was told, by its start time, or is gone (the id is not used again while the group lives).
local M = {}

---@type { leader: integer, started?: string }?
local group

--- Milliseconds between the request to end and the end.
local GRACE = 150

--- When a process started, in a form that is only good for comparing; nil when there is none.
---@param pid integer
---@return string?
local function start_time(pid)
  local file = io.open(('/proc/%d/stat'):format(pid))
  if file then
    local fields = vim.split(file:read('*a'):match('^.*%) (.*)$'), ' ')
    file:close()
    return fields[20] -- field 22 of proc(5), counted from behind the program's name
  elseif not vim.uv.fs_stat('/proc/self') then
    local told = vim.system({ 'ps', '-o', 'lstart=', '-p', tostring(pid) }, { text = true }):wait()
    return told.code == 0 and told.stdout or nil
  end
end

--- The process id of the group's leader; nil when there is no group.
---@return integer?
function M.leader()
  return group and group.leader
end

--- Remember a group by the process id of its leader.
---@param leader integer
function M.watch(leader)
  group = { leader = leader, started = start_time(leader) }
end

--- End the group: politely, and shortly after, or when Neovim ends before that, for good.
function M.finish()
  local ended = group
  group = nil
  local started = ended and start_time(ended.leader)
  if not ended or (started and started ~= ended.started) then
    return
  end
  vim.uv.kill(-ended.leader, 'sigterm')
  local timer = assert(vim.uv.new_timer())
  local function kill()
    if not timer:is_closing() then
      timer:close()
      vim.uv.kill(-ended.leader, 'sigkill')
    end
  end
  timer:start(GRACE, 0, kill) -- not scheduled: Neovim may wait for a key by now
  vim.api.nvim_create_autocmd('VimLeave', { once = true, callback = kill })
end

return M
