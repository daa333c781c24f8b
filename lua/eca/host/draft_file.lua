--- Saves unsent text in a file while there is no host to save it, and when Neovim exits.
---
--- Rules kept here:
--- - There is one file per Neovim and project, readable only by its owner. Only one process writes
---   it, so it needs no lock. It is in the folder of the host's files.
--- - Its name has the id of the process that will remove it: this Neovim, or when Neovim exits the
---   host, once it has saved everything. If that process is gone, the first Neovim that looks takes
---   the file over. It renames the file, so that only one Neovim gets it.
--- - It is first written whole under another name, so that its old content is never half lost.
local system = require('eca.files.system')

local M = {}

local FILE_MODE, FOLDER_MODE = tonumber('600', 8), tonumber('700', 8)

--- Our file; no path: there is none.
M.saved = { text = '' } ---@type { text: string, path?: string }

--- The folder of the saved files.
---@return string
local function folder_of()
  return vim.fs.joinpath(vim.fn.stdpath('state') --[[@as string]], 'eca')
end

--- The prefix of this project's file names. Vim tests its SHA-256 at the first use, which takes 3
--- ms, so this must not be called while a window opens.
---@return string
local function prefix()
  return vim.fn.sha256(table.concat(require('eca.host.workspace').first(), '\n')):sub(1, 16)
end

---@param pid integer
---@return string
local function path_of(pid)
  return vim.fs.joinpath(folder_of(), ('%s.%d.unsent'):format(prefix(), pid))
end

---@param path string
---@return string?
local function read(path)
  local file = io.open(path, 'rb')
  local text = file and file:read('*a')
  if file then
    file:close()
  end
  return text
end

--- Write a whole file, or leave it unchanged.
---@param path string
---@param text string
---@return string? fault
local function write(path, text)
  local made, refusal = pcall(vim.fn.mkdir, folder_of(), 'p', FOLDER_MODE)
  if not made and vim.fn.isdirectory(folder_of()) == 0 then -- else another Neovim was quicker
    return tostring(refusal)
  end
  local fresh = path .. '.new'
  local file, fault = vim.uv.fs_open(fresh, 'w', FILE_MODE)
  if not file then
    return fault
  end
  local written, full = vim.uv.fs_write(file, text)
  vim.uv.fs_close(file)
  if written == #text then
    return select(2, vim.uv.fs_rename(fresh, path))
  end
  vim.uv.fs_unlink(fresh)
  return full or 'the disk is full'
end

--- Save a text instead of the one before; an empty one removes the file.
---@param text string
---@param remover? integer id of the process that will remove the file; default: this Neovim
function M.save(text, remover)
  local before, path = M.saved.path, nil ---@type string?, string?
  if text ~= '' then
    path = path_of(remover or vim.fn.getpid())
    local same = text == M.saved.text and path == before
    local fault = not same and write(path, text)
    if fault then
      local line = 'unsent text is not saved: ' .. fault
      require('eca.host.log').write(line)
      return require('eca.host.unwritable').tell(path, fault, line)
    end
  end
  M.saved = { text = text, path = path }
  if before and before ~= path then
    vim.uv.fs_unlink(before)
  end
end

--- Take over the text that exited Neovims of this project have left.
---@return string? text
function M.take()
  local found = {} ---@type string[]
  for name in vim.fs.dir(folder_of()) do
    local project, number = name:match('^(%x+)%.(%d+)%.unsent$')
    local pid = tonumber(number)
    local left = pid and (pid == vim.fn.getpid() or not system.is_running(pid)) -- ids are reused
    local own = left and project == prefix() and path_of(vim.fn.getpid())
    if own and vim.uv.fs_rename(path_of(pid), own) then
      found[#found + 1] = read(own)
      M.saved = { text = found[#found], path = own }
    end
  end
  if #found > 1 then
    M.save(table.concat(found, '\n'))
  end
  return found[1] and table.concat(found, '\n')
end

return M
