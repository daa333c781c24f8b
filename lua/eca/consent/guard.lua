--- Guard time: whether a key pressed now can be meant for what has just appeared.
---
--- Rules kept here:
--- - The time begins when Neovim has processed all keys typed before. While it is busy it does not
---   draw, so a key typed meanwhile cannot be meant for something that was not visible yet.
local config = require('eca.config')

local M = {}

---@class eca.Guard
---@field since? integer ns, when it could first be seen; nil: Neovim is still busy

--- Begin the guard time: something has just appeared.
---@return eca.Guard
function M.begin()
  local guard = {} ---@type eca.Guard
  vim.schedule(function()
    guard.since = vim.uv.hrtime()
  end)
  return guard
end

--- Is the guard time over?
---@param guard eca.Guard
---@return boolean
function M.is_over(guard)
  local least = config.get().approval.guard
  local since = guard.since
  return least <= 0 or (since ~= nil and (vim.uv.hrtime() - since) / 1e6 >= least)
end

return M
