--- Finds the file or link that the text under the cursor names, in what a model or a user writes.
---
--- Rules kept here: a name is data: it is looked up, never expanded or run.
local files = require('eca.files')
local host = require('eca.host')
local markdown_line = require('eca.markdown.line')
local notify = require('eca.ui.notify')
local scan = require('eca.text.scan')
local to_code = require('eca.window.to_code')

local M = {}

---@class eca.FileReference
---@field path string absolute
---@field line? integer 1-based

--- The run of characters without blanks around the cursor.
---@return string
local function word()
  local line, column = vim.api.nvim_get_current_line(), vim.api.nvim_win_get_cursor(0)[2] + 1
  local first = scan.end_run(line:sub(1, column), '[^%s`"\'()%[%]<>|]')
  return line:match('^[^%s`"\'()%[%]<>|]*', first) or ''
end

---@param name string
---@return string?
local function existing(name)
  local folder = host.folders()[1]
  local path = vim.startswith(name, '/') and name or vim.fs.joinpath(folder, name)
  local stat = name ~= '' and vim.uv.fs_stat(path)
  return stat and stat.type == 'file' and path or nil
end

--- The existing file that the text under the cursor names: `path`, `path:12` or `path:12-20`.
---@return eca.FileReference?
function M.under_cursor()
  local text = scan.without_end((word():gsub('^@', '')), '[.,;:!?]')
  local whole = existing(text)
  if whole then
    return { path = whole }
  end
  local name, line = text:match('^(.-):(%d+)')
  local path = name and existing(name)
  return path and { path = path, line = tonumber(line) } or nil
end

--- The target of the Markdown link that the cursor is in, and that of the only link in its line.
---@return string? here, string? only
local function linked()
  local line = vim.api.nvim_get_current_line()
  local parsed = markdown_line.parse(line)
  local column = vim.api.nvim_win_get_cursor(0)[2]
  local targets = {} ---@type table<string, true>
  for _, region in ipairs(parsed and parsed.regions or {}) do
    if region.url and region.first <= column and column < region.last then
      return region.url
    elseif region.url then
      targets[region.url] = true
    end
  end
  local only = next(targets)
  local parts = only and vim.split(line, only, { plain = true }) or {}
  local is_only = not next(targets, only) and not table.concat(parts):find('://', 1, true)
  return nil, is_only and only or nil
end

--- The link under the cursor: the target of a Markdown link, else a plain web address.
---@return string? url, string? only the only link in the line, if there is none under the cursor
function M.url_under_cursor()
  local here, only = linked()
  return here or word():match('https?://%S+'), only
end

--- Show a file in a code window, and go there.
---@param file eca.FileReference
function M.show(file)
  local fault = files.fault(file.path)
  if not fault then
    to_code.enter()
    fault = files.show(file.path)
  end
  if fault then
    notify.warn(fault)
  elseif file.line then
    local last = vim.api.nvim_buf_line_count(0)
    vim.api.nvim_win_set_cursor(0, { math.min(file.line, last), 0 })
    vim.cmd('normal! zz')
  end
end

return M
