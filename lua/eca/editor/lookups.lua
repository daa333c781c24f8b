--- What the agent asks of this Neovim: where something is defined or used, by its language servers;
--- its diagnostics; and the files that are open.
---
--- Rules kept here:
--- - For locations lines and columns are 1-based, in requests and answers; for diagnostics 0-based,
---   the end exclusive. Columns are in UTF-16 code units.
--- - "The whole workspace" means files inside its folders: the agent learns nothing about others.
--- - Nothing is loaded, opened or changed, but for locations: a file that is not open is loaded
---   without a window, so that its language server starts. The last of these stay loaded.
--- - Only files count as open: no terminal, no help, no chat.
local files = require('eca.files')
local others = require('eca.ui.others')
local paths = require('eca.files.paths')

local M = {}

---@class eca.Location
---@field path string
---@field start_line integer
---@field start_column integer
---@field end_line integer
---@field end_column integer

--- Milliseconds after a file was loaded in which its server may still be starting.
local PATIENCE_MS = 3000

--- Files that stay loaded for locations, and that nothing else needs.
local MOST_LOADED = 20

local loaded = {} ---@type table<integer, integer> when a buffer was loaded, in ms
local recent = {} ---@type integer[] these buffers, the one that was asked about last at the end
local running = {} ---@type table<integer, integer> requests about a buffer

--- Returns a function that reads lines of a file: from its buffer if that is loaded, else from
--- disk, once.
---@param path string
---@param buf? integer
---@return fun(row: integer): string
local function reader(path, buf)
  if buf and vim.api.nvim_buf_is_loaded(buf) then
    return function(row)
      return vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
    end
  end
  local lines = nil ---@type string[]?
  return function(row)
    lines = lines or vim.split(files.read(path) or '', '\n', { plain = true })
    return lines[row + 1] or ''
  end
end

--- From bytes to UTF-16 code units.
---@param line string
---@param byte integer
---@return integer
local function from_byte(line, byte)
  return vim.fn.strutf16len(line:sub(1, byte))
end

--- From UTF-16 code units to the units of a language server.
---@param line string
---@param column integer
---@param encoding string 'utf-8', 'utf-16' or 'utf-32'
---@return integer
local function from_utf16(line, column, encoding)
  if encoding == 'utf-16' then
    return column
  end
  local byte = vim.fn.byteidx(line, column, true)
  byte = byte < 0 and #line or byte
  return encoding == 'utf-8' and byte or vim.fn.strchars(line:sub(1, byte))
end

--- From the units of a language server to UTF-16 code units.
---@param line string
---@param column integer
---@param encoding string
---@return integer
local function to_utf16(line, column, encoding)
  if encoding == 'utf-16' then
    return column
  end
  local byte = encoding == 'utf-8' and column or vim.fn.byteidx(line, column)
  return from_byte(line, byte < 0 and #line or byte)
end

local METHODS = {
  definition = 'textDocument/definition',
  references = 'textDocument/references',
}

---@param found table an LSP Location or LocationLink
---@param encoding string
---@return eca.Location? location nil if it is not in a file
local function export(found, encoding)
  local range = found.targetSelectionRange or found.range
  local uri = found.targetUri or found.uri
  if type(uri) ~= 'string' or not vim.startswith(uri, 'file:///') then
    return nil
  end
  local path = vim.uri_to_fname(uri)
  local line_at = reader(path, paths.buffer_of(path))
  local function column(place)
    return to_utf16(line_at(place.line), place.character, encoding) + 1
  end
  return {
    path = path,
    start_line = range.start.line + 1,
    start_column = column(range.start),
    end_line = range['end'].line + 1,
    end_column = column(range['end']),
  }
end

---@param results table<integer, { result?: table }>
---@return eca.Location[]
local function gather(results)
  local found = {} ---@type eca.Location[]
  for client_id, answer in pairs(results) do
    local result, client = answer.result or {}, vim.lsp.get_client_by_id(client_id)
    for _, location in ipairs(vim.islist(result) and result or { result }) do
      found[#found + 1] = export(location, client and client.offset_encoding or 'utf-16')
    end
  end
  return found
end

--- The answer for a file whose servers cannot answer. One may be starting: a configuration takes a
--- moment to start it for a file that was just loaded, and it takes another to initialize.
---@param buf integer
---@return eca.Location[]|'starting'|'no-server'
local function without_answer(buf)
  if #vim.lsp.get_clients({ bufnr = buf }) > 0 then
    return {} -- no server supports the method
  end
  local started = vim.lsp.get_clients({ bufnr = buf, _uninitialized = true })
  local is_starting = #started > 0 or vim.uv.now() - (loaded[buf] or 0) < PATIENCE_MS
  return is_starting and 'starting' or 'no-server'
end

--- Does nothing but locations need a buffer that was loaded for them?
---@param buf integer
---@return boolean
local function is_spare(buf)
  local is_used = vim.bo[buf].modified or #vim.fn.win_findbuf(buf) > 0 or running[buf] ~= nil
  return not is_used and not vim.bo[buf].buflisted
end

--- Note that a buffer is asked about, and delete those that were loaded for locations long ago.
---@param buf integer
local function used(buf)
  local spare = {} ---@type integer[]
  recent = vim.tbl_filter(function(other)
    return other ~= buf and vim.api.nvim_buf_is_valid(other)
  end, recent)
  recent[#recent + 1] = loaded[buf] and buf or nil
  for _, other in ipairs(recent) do
    spare[#spare + 1] = is_spare(other) and other or nil
  end
  for place = 1, #spare - MOST_LOADED do
    local other = spare[place]
    local worked = pcall(others.call, 'BufWipeout', vim.api.nvim_buf_delete, other, {})
    loaded[other] = not worked and loaded[other] or nil
  end
end

--- Find definitions or references of what is at a place; a word instead of a list if there is no
--- server to ask.
---@param kind 'definition'|'references'
---@param path string
---@param line integer
---@param column integer
---@param callback fun(found: eca.Location[]|'starting'|'no-server')
function M.locations(kind, path, line, column, callback)
  local buf, added = files.load(path)
  if added then
    loaded[buf] = vim.uv.now()
  end
  used(buf)
  local method = METHODS[kind]
  local clients = vim.lsp.get_clients({ bufnr = buf, method = method })
  if #clients == 0 then
    callback(without_answer(buf))
    return
  end
  local text = reader(path, buf)(line - 1)
  local function params(client)
    local character = from_utf16(text, column - 1, client.offset_encoding or 'utf-16')
    return {
      textDocument = { uri = vim.uri_from_bufnr(buf) },
      position = { line = line - 1, character = character },
      context = { includeDeclaration = true },
    }
  end
  -- Each server has its own column units, but before 0.11 all of them get the same parameters.
  local request = vim.fn.has('nvim-0.11') == 1 and params or params(clients[1])
  running[buf] = (running[buf] or 0) + 1
  vim.lsp.buf_request_all(buf, method, request, function(results)
    running[buf] = running[buf] > 1 and running[buf] - 1 or nil
    callback(gather(results))
  end)
end

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
local function export_diagnostic(found, path, line_at)
  local end_line = found.end_lnum or found.lnum
  return {
    path = path,
    start_line = found.lnum,
    start_column = from_byte(line_at(found.lnum), found.col),
    end_line = end_line,
    end_column = from_byte(line_at(end_line), found.end_col or found.col),
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
function M.diagnostics(path, folders)
  local wanted = path and paths.normalize(path)
  local all = {} ---@type eca.Diagnostic[]
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local found = vim.diagnostic.get(buf)
    local file = #found > 0 and paths.of_buffer(buf)
    if file and (file == wanted or (not wanted and paths.inside(file, folders))) then
      local line_at = reader(file, buf)
      for _, diagnostic in ipairs(found) do
        all[#all + 1] = export_diagnostic(diagnostic, file, line_at)
      end
    end
  end
  return all
end

---@class eca.OpenBuffer
---@field path string
---@field line integer of the cursor, 1-based
---@field modified boolean
---@field visible boolean in a window

--- The open files, the one used last first.
---@return eca.OpenBuffer[]
function M.open_buffers()
  local open = {} ---@type eca.OpenBuffer[]
  for _, info in ipairs(paths.listed_buffers()) do
    local path = paths.of_buffer(info.bufnr)
    if path then
      open[#open + 1] = {
        path = path,
        line = math.max(1, info.lnum),
        modified = info.changed == 1,
        visible = #info.windows > 0,
      }
    end
  end
  return open
end

return M
