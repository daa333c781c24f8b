--- The folders the agents work in: those of the start, and those that the user has added since.
---
--- Rules kept here: nothing but an answer of the host adds a folder, which the user has asked for.
local M = {}

--- What makes a folder a project of its own.
local MARKERS = { '.git', '.jj', '.hg' }

--- Why there is no folder at the start.
M.GONE = 'the working folder is gone: :cd elsewhere, then :Eca restart'

local first ---@type string[]?
local added = {} ---@type string[]

--- The project of a file or a folder.
---@param path string '' is the working folder if somebody has deleted it
---@return string?
function M.project_of(path)
  return path ~= '' and vim.fs.root(path, MARKERS) or nil
end

--- The folders of the start; they stay the same until Neovim exits. There is none as long as the
--- working folder is gone.
---@return string[] absolute paths
function M.first()
  if not first then
    local file = vim.bo.buftype == '' and vim.api.nvim_buf_get_name(0) or ''
    local cwd = vim.fn.getcwd()
    local folder = M.project_of(file ~= '' and file or cwd) or cwd
    first = folder ~= '' and { folder } or nil
  end
  return first or {}
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
