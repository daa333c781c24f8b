--- Guard time: whether a key pressed now can be meant for what has just appeared.
---
--- Rules kept here:
--- - The time begins when Neovim has processed all keys typed before. While it is busy it does not
---   draw, so a key typed meanwhile cannot be meant for something that was not visible yet.
--- - A command is meant for what could be seen when its user began to type it.
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

--- When the command line was opened (ns): the one that is open, and that of the typed command that
--- runs now.
local opened, typed = nil, nil ---@type integer?, integer?

--- Could this be seen before the user began to type the command that runs now, if one was typed?
---@param guard eca.Guard
---@return boolean
function M.was_seen(guard)
  local since = guard.since
  return not typed or config.get().approval.guard <= 0 or (since ~= nil and since <= typed)
end

vim.api.nvim_create_autocmd({ 'CmdlineEnter', 'CmdlineLeave' }, {
  group = vim.api.nvim_create_augroup('eca.consent.guard', {}),
  pattern = ':',
  callback = function(event)
    if event.event == 'CmdlineEnter' then
      opened = vim.uv.hrtime()
      return
    end
    local mine = opened
    typed = mine
    vim.schedule(function() -- its command has run
      typed = typed ~= mine and typed or nil
    end)
  end,
})

return M
