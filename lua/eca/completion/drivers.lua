--- Plugins with a menu of their own that ask language clients: where one is active, ours is not
--- opened.
---
--- Rules kept here: a plugin counts only once it is loaded and would be active in the buffer.
local M = {}

---@param name string
---@return any? module nil if it is not loaded
local function loaded(name)
  return package.loaded[name]
end

--- Call a function of a plugin; one that fails counts as "not active".
---@param ask fun(): any
---@return boolean
local function holds(ask)
  local worked, answer = pcall(ask)
  return worked and answer and true or false
end

---@type table<string, fun(buf: integer): boolean>
local DRIVERS = {
  ['nvim-cmp'] = function()
    local config = loaded('cmp') and loaded('cmp.config')
    return config ~= nil
      and holds(function()
        return config.enabled()
          and vim.iter(config.get().sources):any(function(source)
            return source.name == 'nvim_lsp'
          end)
      end)
  end,
  ['blink.cmp'] = function()
    local config = loaded('blink.cmp') and loaded('blink.cmp.config')
    return config ~= nil and holds(config.enabled)
  end,
  ['mini.completion'] = function(buf)
    local off = vim.g.minicompletion_disable == true or vim.b[buf].minicompletion_disable == true
    return rawget(_G, 'MiniCompletion') ~= nil and not off
  end,
}

--- The plugin that opens a menu in a buffer, if there is one.
---@param buf integer the current one
---@return string? name
function M.active(buf)
  for name, is_active in pairs(DRIVERS) do
    if is_active(buf) then
      return name
    end
  end
end

return M
