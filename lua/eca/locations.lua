--- Where something is defined or used, asked of the language servers of this Neovim.
---
--- Rules kept here: lines and columns are 1-based, columns in UTF-16 code units, both ways. A file
--- that is not open is loaded without a window, so that its language server starts.
local columns = require('eca.columns')
local files = require('eca.files')
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

---@param found table an LSP Location or LocationLink
---@param encoding string
---@return eca.Location? location nil when it is in no file, but in what only its server can show
local function export(found, encoding)
  local range = found.targetSelectionRange or found.range
  local uri = found.targetUri or found.uri
  if type(uri) ~= 'string' or not vim.startswith(uri, 'file:///') then
    return nil
  end
  local path = vim.uri_to_fname(uri)
  local line_at = columns.reader(path, paths.buffer_of(path))
  local function column(place)
    return columns.to_utf16(line_at(place.line), place.character, encoding) + 1
  end
  return {
    path = path,
    start_line = range.start.line + 1,
    start_column = column(range.start),
    end_line = range['end'].line + 1,
    end_column = column(range['end']),
  }
end

---@param client_id integer
---@return string
local function encoding_of(client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  return client and client.offset_encoding or 'utf-16'
end

---@param results table<integer, { result?: table }>
---@return eca.Location[]
local function gather(results)
  local found = {} ---@type eca.Location[]
  for client_id, answer in pairs(results) do
    local result = answer.result or {}
    for _, location in ipairs(vim.islist(result) and result or { result }) do
      found[#found + 1] = export(location, encoding_of(client_id))
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
  local buf = files.load(path)
  local method = METHODS[kind]
  local clients = vim.lsp.get_clients({ bufnr = buf, method = method })
  if #clients == 0 then
    callback(#vim.lsp.get_clients({ bufnr = buf }) > 0 and {} or nil)
    return
  end
  local text = columns.reader(path, buf)(line - 1)
  local function params(client)
    local character = columns.from_utf16(text, column - 1, client.offset_encoding or 'utf-16')
    return {
      textDocument = { uri = vim.uri_from_bufnr(buf) },
      position = { line = line - 1, character = character },
      context = { includeDeclaration = true },
    }
  end
  -- Each server has its own units; before 0.11 all of them get the same question.
  local question = vim.fn.has('nvim-0.11') == 1 and params or params(clients[1])
  vim.lsp.buf_request_all(buf, method, question, function(results)
    callback(gather(results))
  end)
end

return M
