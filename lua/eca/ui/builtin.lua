--- Whether a function is Neovim's own, or a plugin has replaced it.
local M = {}

--- Is a function Neovim's own? Then its source is in the program or its runtime, or unknown.
---@param candidate fun(...: any)
---@return boolean
function M.is(candidate)
  local source = debug.getinfo(candidate, 'S').source
  local runtime = ('@%s/'):format(vim.env.VIMRUNTIME)
  return source:sub(-1) == '?' or vim.startswith(source, '@vim/') or vim.startswith(source, runtime)
end

return M
