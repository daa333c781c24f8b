--- What is typed while no host keeps it: a file of this Neovim's, until a host has it all.
---
--- Rules kept here:
--- - One file a Neovim and project, readable by its owner alone: nobody else writes it, so nothing
---   must be locked. It lies beside what the host keeps.
--- - A file whose Neovim is gone goes to the first that looks; it is renamed, so that one gets it.
--- - It is written whole under another name first: what was in it is never half gone.
local M = {}

local FILE_MODE, FOLDER_MODE = tonumber('600', 8), tonumber('700', 8)

local there = false -- our file

--- The folder of all that is kept.
---@return string
local function folder_of()
  return vim.fs.joinpath(vim.fn.stdpath('state') --[[@as string]], 'eca')
end

--- How the names of this project's files begin. Vim checks its SHA-256 before the first use, which
--- takes 3 ms: not to be asked for while a window opens.
---@return string
local function start()
  return vim.fn.sha256(table.concat(require('eca.host').folders(), '\n')):sub(1, 16)
end

---@param pid integer
---@return string
local function path_of(pid)
  return vim.fs.joinpath(folder_of(), ('%s.%d.unsent'):format(start(), pid))
end

---@return string
local function own_path()
  return path_of(vim.fn.getpid())
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

---@param path string
---@param text string
---@return string? fault
local function write(path, text)
  local fresh = path .. '.new'
  local file, fault = vim.uv.fs_open(fresh, 'w', FILE_MODE)
  if not file then
    return fault
  end
  local written, full = vim.uv.fs_write(file, text)
  vim.uv.fs_close(file)
  if written ~= #text then
    return full or 'the disk is full'
  end
  return select(2, vim.uv.fs_rename(fresh, path))
end

--- Is something kept?
---@return boolean
function M.is_there()
  return there
end

--- Keep a text, instead of what was kept before; an empty one takes the file away.
---@param text string
function M.keep(text)
  if text == '' then
    if there then
      vim.uv.fs_unlink(own_path())
    end
    there = false
    return
  end
  there = true
  vim.fn.mkdir(folder_of(), 'p', FOLDER_MODE)
  local fault = write(own_path(), text)
  if fault then
    require('eca.log').write('what was typed is not kept: ' .. fault)
  end
end

---@param pid integer
---@return boolean
local function runs(pid)
  local _, _, fault = vim.uv.kill(pid, 0)
  return fault ~= 'ESRCH'
end

--- Take over what Neovims of this project that are gone have left.
---@return string? text
function M.take()
  local found = {} ---@type string[]
  for name in vim.fs.dir(folder_of()) do
    local project, number = name:match('^(%x+)%.(%d+)%.unsent$')
    local pid = tonumber(number)
    local left = pid and (pid == vim.fn.getpid() or not runs(pid)) -- ids are used again
    if left and project == start() and vim.uv.fs_rename(path_of(pid), own_path()) then
      there = true
      found[#found + 1] = read(own_path())
    end
  end
  if #found > 1 then
    M.keep(table.concat(found, '\n'))
  end
  return #found > 0 and table.concat(found, '\n') or nil
end

return M
