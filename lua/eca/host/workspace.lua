--- The folders the agents work in: those of the start, and those that the user has added since.
---
--- Rules kept here: nothing but an answer of the host adds a folder, which the user has asked for.
local M = {}

--- What makes a folder a project of its own.
M.MARKERS = { '.git', '.jj', '.hg' }

local first ---@type string[]?
local added = {} ---@type string[]

--- The folders of the start; they stay the same until Neovim exits.
---@return string[] absolute paths
function M.first()
  first = first or { vim.fs.root(0, M.MARKERS) or vim.fn.getcwd() }
  return first
end

--- The folders that the user has added.
---@return string[] absolute paths
function M.added()
  return added
end

--- Called with what the host says is added now.
---@param folders string[]
function M.set_added(folders)
  added = folders
end

--- All folders.
---@return string[] absolute paths
function M.folders()
  return vim.list_extend({ unpack(M.first()) }, added)
end

return M
