--- The time from the first call of a remote plugin's function to its answer.
---
--- The plugin is registered as `:UpdateRemotePlugins` does it, and its host is the one that Neovim
--- starts itself.
local M = {}

--- Call the function of `bare_plugin.py` for the first time.
---@param python string the host's interpreter
---@param plugin string path of the plugin
---@return number ms
function M.call(python, plugin)
  vim.g.loaded_python3_provider = nil
  vim.g.python3_host_prog = python
  local answer = { type = 'function', name = 'BareAnswer', sync = 1, opts = vim.empty_dict() }
  vim.fn['remote#host#RegisterPlugin']('python3', plugin, { answer })
  local started = vim.uv.hrtime()
  assert(vim.fn.BareAnswer() == 'ready')
  return (vim.uv.hrtime() - started) / 1e6
end

return M
