--- Says that files of our own cannot be written: prompts and drafts, the log.
---
--- Rules kept here:
--- - A place that cannot be written is one fault, whether this half, the host, or Neovim for us
---   meets it. It is named in one message, with the remedy, until something was written.
--- - The place is the first folder on the way that is missing, or is something else; only if all
---   are there, the folder or the file itself.
local M = {}

local told = {} ---@type table<string, true> by place

--- The first folder above a path that is missing, or is something else.
---@param path string
---@return string?
local function missing_folder(path)
  local first ---@type string?
  for above in vim.fs.parents(path) do
    if (vim.uv.fs_stat(above) or {}).type ~= 'directory' then
      first = above
    end
  end
  return first
end

---@param place string
---@param fault string
---@return string
local function reason(place, fault)
  if vim.uv.fs_stat(place) then
    return 'is no folder'
  elseif vim.uv.fs_lstat(place) then
    return 'is a link to nothing'
  end
  return ('cannot be made (%s)'):format(fault)
end

--- A fault in words alone: without Neovim's codes, and without the path, which is named already.
---@param fault string
---@return string
local function words(fault)
  local text = fault:gsub('^Vim:', ''):gsub('^E%w+: ', '')
  for _, part in ipairs(vim.split(text, ': ', { plain = true })) do
    if not part:find('/', 1, true) then
      return part:lower()
    end
  end
  return text
end

--- Name a place with the reason and the remedy.
---@param place string
---@param what string
---@return string
local function line_of(place, what)
  return ('nothing is saved: %s %s, mend it'):format(vim.fn.fnamemodify(place, ':~'), what)
end

--- Which place cannot be written, and what is said about it.
---@param path string
---@param fault string
---@return string place, string? line
local function explain(path, fault)
  local said, missing = words(fault), missing_folder(path)
  if said:find('no space left', 1, true) or said:find('quota', 1, true) then
    return 'disk', ('nothing is saved: %s; free some space'):format(said)
  elseif said:find('too many open files', 1, true) then
    return 'handles', ('nothing is saved: %s; raise ulimit -n'):format(said)
  elseif missing then
    return missing, line_of(missing, reason(missing, said))
  end
  local folder = vim.fs.dirname(path)
  if not vim.uv.fs_lstat(path) or not vim.uv.fs_access(folder, 'W') then
    return folder, line_of(folder, ('cannot be written (%s)'):format(said))
  end
  return path, nil
end

--- Show that a file cannot be written, unless that is known already.
---@param path string
---@param fault string of Neovim, of libuv or of the host
---@param line string said if only this file is the reason
function M.tell(path, fault, line)
  local place, known = explain(path, fault)
  if not told[place] then
    told[place] = true
    require('eca.ui.notify').warn(known or line)
  end
end

--- Is there no folder for the files of Neovim's own that it makes for us? Then that is said.
---@param fault string that Neovim has raised
---@return boolean
function M.is_reason(fault)
  local inside = vim.fs.joinpath(vim.fn.stdpath('state') --[[@as string]], 'eca', 'eca')
  local about = fault:find('E739:', 1, true) or fault:find('E303:', 1, true)
  if not about or not missing_folder(inside) then
    return false
  end
  M.tell(inside, fault, fault)
  return true
end

--- Called when a file was written after all: the next fault is said again.
function M.forget()
  told = {}
end

return M
