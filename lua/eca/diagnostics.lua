--- What the linters and language servers of this Neovim found, for the agent.
---
--- Rules kept here:
--- - Lines and columns are 0-based, columns in UTF-16 code units, the end exclusive.
--- - The whole workspace means files inside its folders: what else is open is nobody's business.
--- - Nothing is loaded, opened or changed to answer.
local paths = require('eca.paths')

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

--- Columns of diagnostics are bytes; the agent counts UTF-16 code units.
---@param buf integer
---@param row integer
---@param column integer
---@return integer
local function utf16_column(buf, row, column)
  if not vim.api.nvim_buf_is_loaded(buf) then
    return column
  end
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
  return vim.fn.strutf16len(line:sub(1, column))
end

---@param found vim.Diagnostic
---@param path string
---@return eca.Diagnostic
local function export(found, path)
  local end_line = found.end_lnum or found.lnum
  local end_column = found.end_col or found.col
  return {
    path = path,
    start_line = found.lnum,
    start_column = utf16_column(found.bufnr, found.lnum, found.col),
    end_line = end_line,
    end_column = utf16_column(found.bufnr, end_line, end_column),
    severity = SEVERITIES[found.severity] or 'error',
    message = found.message,
    source = found.source,
    code = found.code and tostring(found.code) or nil,
  }
end

--- Collect the findings for one file, or for every file of some folders.
---@param path? string absolute
---@param folders string[] absolute
---@return eca.Diagnostic[]
function M.collect(path, folders)
  local wanted = path and paths.normalize(path)
  local found = {} ---@type eca.Diagnostic[]
  for _, diagnostic in ipairs(vim.diagnostic.get()) do
    local file = paths.of_buffer(diagnostic.bufnr)
    if file and (file == wanted or (not wanted and paths.inside(file, folders))) then
      found[#found + 1] = export(diagnostic, file)
    end
  end
  return found
end

return M
