--- The diagnostics of this Neovim as text, those of files in the workspace.
---
--- Rules kept here: errors come first within a file. Nothing is loaded or asked for.
local bounded = require('eca.context.bounded')
local paths = require('eca.files.paths')
local sanitize = require('eca.ui.sanitize')

local M = {}

local NAMES = { 'error', 'warning', 'info', 'hint' }

---@param path string
---@param found vim.Diagnostic
---@return string
local function line_of(path, found)
  local place = ('%s:%d:%d'):format(paths.as_typed(path), found.lnum + 1, found.col + 1)
  local source = found.source and (' [%s]'):format(found.source) or ''
  return sanitize.line(('%s: %s: %s%s'):format(place, NAMES[found.severity], found.message, source))
end

---@param one vim.Diagnostic
---@param other vim.Diagnostic
---@return boolean
local function comes_first(one, other)
  if one.severity ~= other.severity then
    return one.severity < other.severity
  end
  return one.lnum < other.lnum
end

--- All diagnostics of files in some folders, each with its file.
---@param folders string[] absolute
---@return { path: string, found: vim.Diagnostic }[]
local function collect(folders)
  local all = {} ---@type { path: string, found: vim.Diagnostic }[]
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local found = vim.diagnostic.get(buf)
    local path = #found > 0 and paths.of_buffer(buf)
    if path and paths.inside(path, folders) then
      table.sort(found, comes_first)
      for _, diagnostic in ipairs(found) do
        all[#all + 1] = { path = path, found = diagnostic }
      end
    end
  end
  return all
end

--- The diagnostics as text, one a line.
---@return eca.ReadText? read
---@return string? fault why there is nothing to send, in one line
function M.read()
  local all = collect(require('eca.host').folders())
  if #all == 0 then
    return nil, 'there are no diagnostics in the workspace'
  end
  local found = bounded.of_list(#all, function(index)
    return line_of(all[index].path, all[index].found)
  end)
  return { label = 'diagnostics', content = found.text, cut = found.cut }
end

return M
