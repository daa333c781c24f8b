--- Converts columns between bytes, UTF-16 code units and the units of language servers.
---
--- Rules kept here: columns and rows are 0-based. A file that is not loaded is read from disk,
--- never into a buffer.
local files = require('eca.files')

local M = {}

--- Returns a function that reads lines of a file: from its buffer if that is loaded, else from
--- disk, once.
---@param path string
---@param buf? integer
---@return fun(row: integer): string
function M.reader(path, buf)
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
function M.from_byte(line, byte)
  return vim.fn.strutf16len(line:sub(1, byte))
end

--- From UTF-16 code units to the units of a language server.
---@param line string
---@param column integer
---@param encoding string 'utf-8', 'utf-16' or 'utf-32'
---@return integer
function M.from_utf16(line, column, encoding)
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
function M.to_utf16(line, column, encoding)
  if encoding == 'utf-16' then
    return column
  end
  local byte = encoding == 'utf-8' and column or vim.fn.byteidx(line, column)
  return M.from_byte(line, byte < 0 and #line or byte)
end

return M
