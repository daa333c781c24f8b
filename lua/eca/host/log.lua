--- The log: one file for both sides.
---
--- Rules kept here:
--- - The file and its folder are readable only by their owner. Text that looks like a key is
---   hidden.
--- - The side that finds the file too large renames it (see `eca_nvim/nvim/logs.py`).
--- - If it cannot be written there is no log, and one message says so.
local M = {}

local FILE_MODE, FOLDER_MODE = tonumber('600', 8), tonumber('700', 8)
--- Bytes after which the log becomes `<log>.1` and a new one begins.
local MOST_BYTES = 2 ^ 20

local has_warned = false -- that writing failed

--- The path of the log.
---@return string
function M.path()
  return vim.fs.joinpath(vim.fn.stdpath('log') --[[@as string]], 'eca', 'eca.log')
end

---@param path string
---@param text string
---@return string? fault
local function append(path, text)
  local folder = vim.fs.dirname(path)
  local made, refusal = pcall(vim.fn.mkdir, folder, 'p', FOLDER_MODE)
  if not made and vim.fn.isdirectory(folder) == 0 then -- else another Neovim was quicker
    return tostring(refusal)
  end
  vim.uv.fs_chmod(folder, FOLDER_MODE)
  local file, fault = vim.uv.fs_open(path, 'a', FILE_MODE)
  if not file then
    return fault
  end
  vim.uv.fs_fchmod(file, FILE_MODE)
  local _, unwritten = vim.uv.fs_write(file, text)
  local here = assert(vim.uv.fs_fstat(file))
  vim.uv.fs_close(file)
  local now = vim.uv.fs_stat(path)
  if here.size >= MOST_BYTES and now and now.ino == here.ino then
    vim.uv.fs_rename(path, path .. '.1')
  end
  return unwritten
end

--- Write a line to the log.
---@param text string
---@param level? 'INFO'|'ERROR' as the host names them
function M.write(text, level)
  local form = '%s %s view: %s\n'
  local line = form:format(os.date('%Y-%m-%d %H:%M:%S'), level or 'ERROR', text)
  local worked, fault = pcall(append, M.path(), require('eca.text.redaction').without_keys(line))
  if (not worked or fault) and not has_warned then
    has_warned = true
    local why = tostring(fault)
    require('eca.host.unwritable').tell(M.path(), why, 'cannot write the log: ' .. why)
  end
end

return M
