--- The folders the agent works in.
local M = {}

local folders ---@type string[]?

--- The folders; they stay the same until Neovim exits.
---@return string[] absolute paths
function M.folders()
  folders = folders or { vim.fs.root(0, { '.git', '.jj', '.hg' }) or vim.fn.getcwd() }
  return folders
end

return M
