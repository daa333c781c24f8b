--- Where something is defined or used, asked of the language servers of this Neovim.
---
--- Rules kept here: lines and columns are 1-based, columns in UTF-16 code units, both ways. A file
--- that is not open is loaded without a window, so that its language server starts.
local paths = require('eca.paths')

local M = {}

---@class eca.Location
---@field path string
---@field start_line integer
---@field start_column integer
---@field end_line integer
---@field end_column integer

local METHODS = {
  definition = 'textDocument/definition',
  references = 'textDocument/references',
}

---@param path string
---@return integer
local function load(path)
  local buf = paths.buffer_of(path) or vim.fn.bufadd(path)
  if not vim.api.nvim_buf_is_loaded(buf) then
    vim.bo[buf].buflisted = false
    vim.fn.bufload(buf)
  end
  return buf
end

--- A column in the units a client counts in, 0-based.
---@param buf integer
---@param line integer 1-based
---@param column integer 1-based, UTF-16
---@param encoding string
---@return integer
local function column_for(buf, line, column, encoding)
  if encoding == 'utf-16' then
    return column - 1
  end
  local text = vim.api.nvim_buf_get_lines(buf, line - 1, line, false)[1] or ''
  local byte = vim.fn.byteidx(text, column - 1, true)
  byte = byte < 0 and #text or byte
  return encoding == 'utf-8' and byte or vim.fn.strchars(text:sub(1, byte))
end

---@param found table an LSP Location or LocationLink
---@return eca.Location
local function export(found)
  local range = found.targetSelectionRange or found.range
  return {
    path = vim.uri_to_fname(found.targetUri or found.uri),
    start_line = range.start.line + 1,
    start_column = range.start.character + 1,
    end_line = range['end'].line + 1,
    end_column = range['end'].character + 1,
  }
end

---@param results table<integer, { result?: table, err?: table, error?: table }>
---@return eca.Location[]
local function gather(results)
  local found = {} ---@type eca.Location[]
  for _, answer in pairs(results) do
    local result = answer.result or {}
    for _, location in ipairs(vim.islist(result) and result or { result }) do
      if location.uri or location.targetUri then
        found[#found + 1] = export(location)
      end
    end
  end
  return found
end

--- Find definitions or references of what is at a place; nil while no server is ready for it.
---@param kind 'definition'|'references'
---@param path string
---@param line integer
---@param column integer
---@param callback fun(found?: eca.Location[])
function M.find(kind, path, line, column, callback)
  local buf = load(path)
  local method = METHODS[kind]
  local clients = vim.lsp.get_clients({ bufnr = buf, method = method })
  if #clients == 0 then
    callback(#vim.lsp.get_clients({ bufnr = buf }) > 0 and {} or nil)
    return
  end
  local encoding = clients[1].offset_encoding or 'utf-16'
  local character = column_for(buf, line, column, encoding)
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(buf) },
    position = { line = line - 1, character = character },
    context = { includeDeclaration = true },
  }
  vim.lsp.buf_request_all(buf, method, params, function(results)
    callback(gather(results))
  end)
end

return M
