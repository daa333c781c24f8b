--- A <C-c> that comes while Neovim works: it is an interrupt then, and passes all mappings.
---
--- Rules kept here: it does what <C-c> is mapped to in the current buffer when that is our own
--- action; anything else is none of our business.
local M = {}

local namespace = vim.api.nvim_create_namespace('eca.interrupt')

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

--- Begin to listen; listening twice is listening once.
---@param plug string what <C-c> is mapped to in our buffers
---@param act fun()
function M.watch(plug, act)
  vim.on_key(function(key)
    if passed(key, plug) then
      vim.schedule(act)
    end
  end, namespace)
end

return M
