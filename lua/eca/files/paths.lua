--- Compares and shows paths of files.
---
--- Rules kept here: nothing is changed; links are resolved. A path is data and never part of a
--- command.
local sanitize = require('eca.ui.sanitize')

local M = {}

--- Make a path absolute and resolve links, so that two names of one file are equal. Of a missing
--- file at least the folder is resolved.
---@param path string
---@return string
function M.normalize(path)
  local real = vim.uv.fs_realpath(path)
  if real then
    return real
  end
  path = vim.startswith(path, '/') and path or vim.fs.joinpath(vim.fn.getcwd(), path)
  path = vim.fs.normalize(path, { expand_env = false })
  local folder = vim.uv.fs_realpath(vim.fs.dirname(path))
  return folder and vim.fs.joinpath(folder, vim.fs.basename(path)) or path
end

--- The file behind a buffer; nil for terminals, help, scratch buffers and other schemes.
---@param buf integer
---@return string?
function M.of_buffer(buf)
  if not vim.api.nvim_buf_is_valid(buf) or vim.bo[buf].buftype ~= '' then
    return nil
  end
  local name = vim.api.nvim_buf_get_name(buf)
  if name == '' or name:find('^%a[%w+.-]+://') then
    return nil
  end
  return M.normalize(name)
end

--- The loaded buffer that shows a file.
---@param path string
---@return integer?
function M.buffer_of(path)
  local wanted = M.normalize(path)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and M.of_buffer(buf) == wanted then
      return buf
    end
  end
  return nil
end

--- The listed buffers, the last used first.
---@return vim.fn.getbufinfo.ret.item[]
function M.listed_buffers()
  local listed = vim.fn.getbufinfo({ buflisted = 1 })
  table.sort(listed, function(one, other)
    return one.lastused > other.lastused
  end)
  return listed
end

--- Is a file inside one of these folders?
---@param path string
---@param folders string[]
---@return boolean
function M.inside(path, folders)
  for _, folder in ipairs(folders) do
    local root = M.normalize(folder):gsub('/$', '')
    if path == root or vim.startswith(path, root .. '/') then
      return true
    end
  end
  return false
end

--- A path as users write it: relative to the working folder if it is inside, else with `~`.
---@param path string
---@return string
function M.as_typed(path)
  return vim.fn.fnamemodify(path, ':~:.')
end

--- The same, safe to show: one line without control characters and invisible ones.
---@param path string
---@return string
function M.short(path)
  return sanitize.line(M.as_typed(path))
end

return M
