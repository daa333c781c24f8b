--- Handles <C-c> while Neovim is busy: it is an interrupt then, and no mapping gets it.
---
--- Rules kept here:
--- - It runs our own action if <C-c> is mapped to that in the current buffer, and nothing
---   otherwise.
--- - Vim may report one press both as an interrupt and as a key, in either order: the action runs
---   once.
local M = {}

local namespace = vim.api.nvim_create_namespace('eca.input.interrupt')

local INTERRUPT = '\3'

--- Is this a <C-c> that has passed its mapping?
---@param key string the key after mappings
---@param plug string
---@return boolean
local function passed(key, plug)
  return key == INTERRUPT
    and vim.api.nvim_get_mode().mode == 'n'
    and vim.fn.maparg('<C-c>', 'n') == plug
end

--- Milliseconds in which two reports are one press.
local SAME_PRESS = 30

--- Begin to watch. Calling it again replaces the watch before.
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
