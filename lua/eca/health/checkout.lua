--- Which plugin this is: its version, and the commit of its checkout if that can be known.
---
--- Rule kept here: git is not run. It may be missing, and obeys the configuration of a repository.
local M = {}

--- Digits of a commit that are shown: enough to find it.
local DIGITS = 12

---@param path string
---@return string?
local function first_line(path)
  return vim.fn.filereadable(path) == 1 and vim.fn.readfile(path, '', 1)[1] or nil
end

---@param folder string
---@param path string absolute, or relative to the folder
---@return string
local function from(folder, path)
  return vim.startswith(path, '/') and path or vim.fs.joinpath(folder, path)
end

--- The folder that git keeps for a checkout, and the one that all its worktrees share.
---@param checkout string
---@return string own
---@return string shared
local function git_folders(checkout)
  local own = vim.fs.joinpath(checkout, '.git')
  local elsewhere = (first_line(own) or ''):match('^gitdir: (.+)') -- a worktree or a submodule
  own = elsewhere and from(checkout, elsewhere) or own
  local shared = first_line(vim.fs.joinpath(own, 'commondir'))
  return own, shared and from(own, shared) or own
end

--- The commit of a branch that has no file of its own.
---@param folder string
---@param branch string
---@return string?
local function packed(folder, branch)
  local path = vim.fs.joinpath(folder, 'packed-refs')
  local lines = vim.fn.filereadable(path) == 1 and vim.fn.readfile(path) or {}
  for _, line in ipairs(lines) do
    local commit, name = line:match('^(%x+) (.+)')
    if name == branch then
      return commit
    end
  end
end

---@param checkout string
---@return string?
local function commit(checkout)
  local own, shared = git_folders(checkout)
  local found = first_line(vim.fs.joinpath(own, 'HEAD'))
  local branch = found and found:match('^ref: (.+)')
  if branch then
    found = first_line(vim.fs.joinpath(shared, branch)) or packed(shared, branch)
  end
  return found and found:match('^%x+$') and found:sub(1, DIGITS)
end

---@param folder string
---@return string?
local function version(folder)
  local path = vim.fs.joinpath(folder, 'pyproject.toml')
  for _, line in ipairs(vim.fn.filereadable(path) == 1 and vim.fn.readfile(path) or {}) do
    local found = line:match('^version = "([^"]+)"')
    if found then
      return found
    end
  end
end

--- Name the plugin that is in a folder.
---@param folder string
---@return string
function M.name(folder)
  local found = commit(folder)
  local name = version(folder) or 'of an unknown version'
  return found and ('%s, commit %s'):format(name, found) or name
end

return M
