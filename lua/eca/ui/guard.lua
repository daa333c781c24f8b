--- Guard: whether a key that comes now can be meant for what has come up.
---
--- Rules kept here:
--- - The time begins when Neovim has taken all keys that were typed before. While it is busy it
---   does not draw: a key that was typed meanwhile was not meant for what nobody could see.
local config = require('eca.config')

local M = {}

---@class eca.Guard
---@field since? integer when it could be seen, in ns; nil: Neovim is still busy

--- Something has come up.
---@return eca.Guard
function M.begin()
  local guard = {} ---@type eca.Guard
  vim.schedule(function()
    guard.since = vim.uv.hrtime()
  end)
  return guard
end

--- Has it been there long enough?
---@param guard eca.Guard
---@return boolean
function M.is_over(guard)
  local least = config.get().approval.guard
  local since = guard.since
  return least <= 0 or (since ~= nil and (vim.uv.hrtime() - since) / 1e6 >= least)
end

return M
