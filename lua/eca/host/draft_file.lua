--- What is typed while no host keeps it, and at the end: a file, until a host has it all.
---
--- Rules kept here:
--- - One file a Neovim and project, readable by its owner alone: nobody else writes it, so nothing
---   must be locked. It lies beside what the host keeps.
--- - Its name has the process that takes it away: this Neovim, or at its end the host, once all is
---   kept. When that process is gone, the first Neovim that looks takes the file. It renames it, so
---   that one gets it.
--- - It is written whole under another name first: what was in it is never half gone.
local M = {}

local FILE_MODE, FOLDER_MODE = tonumber('600', 8), tonumber('700', 8)

---@type { text: string, path?: string } what is in our file
local kept = { text = '' }
local told = false -- that the disk refuses

--- The folder of all that is kept.
---@return string
local function folder_of()
  return vim.fs.joinpath(vim.fn.stdpath('state') --[[@as string]], 'eca')
end

--- How the names of this project's files begin. Vim checks its SHA-256 before the first use, which
--- takes 3 ms: not to be asked for while a window opens.
---@return string
local function start()
  return vim.fn.sha256(table.concat(require('eca.host.workspace').folders(), '\n')):sub(1, 16)
end

---@param pid integer
---@return string
local function path_of(pid)
  return vim.fs.joinpath(folder_of(), ('%s.%d.unsent'):format(start(), pid))
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

--- Write a file whole, or leave it as it was.
---@param path string
---@param text string
---@return string? fault
local function write(path, text)
  local made, refusal = pcall(vim.fn.mkdir, folder_of(), 'p', FOLDER_MODE)
  if not made then
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

--- Tell once that the disk refuses.
---@param fault string
local function refused(fault)
  local line = 'what is typed is not kept: ' .. fault
  require('eca.host.log').write(line)
  if not told then
    told = true
    require('eca.ui.notify').warn(line)
  end
end

--- Keep a text, instead of what was kept before; an empty one takes the file away.
---@param text string
---@param keeper? integer process id of who takes the file away; default: this Neovim's
function M.keep(text, keeper)
  local before, path = kept.path, nil ---@type string?, string?
  if text ~= '' then
    path = path_of(keeper or vim.fn.getpid())
    local same = text == kept.text and path == before
    local fault = not same and write(path, text)
    if fault then
      refused(fault)
      return
    end
  end
  kept = { text = text, path = path }
  if before and before ~= path then
    vim.uv.fs_unlink(before)
  end
end

--- Does a process run? One that has ended and that nobody has waited for (in a container) does not.
---@param pid integer
---@return boolean
local function runs(pid)
  local _, _, fault = vim.uv.kill(pid, 0)
  local state = (read(('/proc/%d/stat'):format(pid)) or ''):match('^.*%) (%a)')
  return fault ~= 'ESRCH' and state ~= 'Z' and state ~= 'X'
end

--- Take over what Neovims of this project that are gone have left.
---@return string? text
function M.take()
  local found, own = {}, path_of(vim.fn.getpid()) ---@type string[], string
  for name in vim.fs.dir(folder_of()) do
    local project, number = name:match('^(%x+)%.(%d+)%.unsent$')
    local pid = tonumber(number)
    local left = pid and (pid == vim.fn.getpid() or not runs(pid)) -- ids are used again
    if left and project == start() and vim.uv.fs_rename(path_of(pid), own) then
      found[#found + 1] = read(own)
      kept = { text = found[#found], path = own }
    end
  end
  if #found > 1 then
    M.keep(table.concat(found, '\n'))
  end
  return found[1] and table.concat(found, '\n')
end

return M
