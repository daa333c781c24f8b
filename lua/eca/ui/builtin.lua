--- Tells Neovim's own functions from those that a plugin of the user has put in their place.
local M = {}

--- Is a function Neovim's own? It comes from no file, or from one inside the program or its folder.
---@param candidate fun(...: any)
---@return boolean
function M.is(candidate)
  local source = debug.getinfo(candidate, 'S').source
  local runtime = ('@%s/'):format(vim.env.VIMRUNTIME)
  return source:sub(-1) == '?' or vim.startswith(source, '@vim/') or vim.startswith(source, runtime)
end

return M
