--- A <C-c> that comes while Neovim works: it is an interrupt then, and passes all mappings.
---
--- Rules kept here:
--- - It does what <C-c> is mapped to in the current buffer when that is our own action; anything
---   else is none of our business.
--- - Vim may take one press for an interrupt and a key, in either order: it is acted upon once.
local M = {}

local namespace = vim.api.nvim_create_namespace('eca.input.interrupt')

local INTERRUPT = '\3'

--- Is this a <C-c> that should have been mapped?
---@param key string what arrived after mappings
---@param plug string
---@return boolean
local function passed(key, plug)
  return key == INTERRUPT
    and vim.api.nvim_get_mode().mode == 'n'
    and vim.fn.maparg('<C-c>', 'n') == plug
end

--- Milliseconds in which nobody presses a key twice.
local SAME_PRESS = 30

--- Begin to listen; listening twice is listening once.
---@param plug string what <C-c> is mapped to in our buffers
---@param act fun()
function M.watch(plug, act)
  local mapped_at, waiting = -math.huge, nil
  vim.on_key(function(key, typed)
    local now = vim.uv.hrtime() / 1e6
    if passed(key, plug) and now - mapped_at > SAME_PRESS then
      local press = {}
      waiting = press
      vim.defer_fn(function()
        if waiting == press then
          waiting = nil
          act()
        end
      end, SAME_PRESS)
    elseif typed == INTERRUPT and key ~= INTERRUPT then
      mapped_at, waiting = now, nil
    end
  end, namespace)
end

return M
