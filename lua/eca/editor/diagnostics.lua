--- Collects this Neovim's diagnostics for the agent.
---
--- Rules kept here:
--- - Lines and columns are 0-based, columns in UTF-16 code units, the end exclusive.
--- - "The whole workspace" means files inside its folders: the agent learns nothing about others.
--- - Nothing is loaded, opened or changed for it.
local paths = require('eca.files.paths')
local utf16 = require('eca.text.utf16')

local M = {}

---@class eca.Diagnostic
---@field path string
---@field start_line integer
---@field start_column integer
---@field end_line integer
---@field end_column integer
---@field severity 'error'|'warning'|'information'|'hint'
---@field message string
---@field source? string
---@field code? string

local SEVERITIES = {
  [vim.diagnostic.severity.ERROR] = 'error',
  [vim.diagnostic.severity.WARN] = 'warning',
  [vim.diagnostic.severity.INFO] = 'information',
  [vim.diagnostic.severity.HINT] = 'hint',
}

---@param found vim.Diagnostic
---@param path string
---@param line_at fun(row: integer): string
---@return eca.Diagnostic
local function export(found, path, line_at)
  local end_line = found.end_lnum or found.lnum
  return {
    path = path,
    start_line = found.lnum,
    start_column = utf16.from_byte(line_at(found.lnum), found.col),
    end_line = end_line,
    end_column = utf16.from_byte(line_at(end_line), found.end_col or found.col),
    severity = SEVERITIES[found.severity] or 'error',
    message = found.message,
    source = found.source,
    code = found.code and tostring(found.code) or nil,
  }
end

--- Collect the diagnostics of one file, or of all files in some folders, in any order.
---@param path? string absolute
---@param folders string[] absolute
---@return eca.Diagnostic[]
function M.collect(path, folders)
  local wanted = path and paths.normalize(path)
  local all = {} ---@type eca.Diagnostic[]
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local found = vim.diagnostic.get(buf)
    local file = #found > 0 and paths.of_buffer(buf)
    if file and (file == wanted or (not wanted and paths.inside(file, folders))) then
      local line_at = utf16.reader(file, buf)
      for _, diagnostic in ipairs(found) do
        all[#all + 1] = export(diagnostic, file, line_at)
      end
    end
  end
  return all
end

return M
