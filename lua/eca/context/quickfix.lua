--- The quickfix list as text, and its items as contexts.
---
--- Rules kept here: items are read one by one, up to what is sent; a list may have 100,000.
local bounded = require('eca.context.bounded')
local paths = require('eca.files.paths')
local sanitize = require('eca.ui.sanitize')

local M = {}

local TYPES = { E = 'error: ', W = 'warning: ', I = 'info: ', N = 'note: ' }

--- An item of the quickfix list, or of the location list of a window.
---@param index integer 1-based
---@param win? integer
---@return table? item as `getqflist` has it
function M.item(index, win)
  local what = { idx = index, items = 0 }
  local found = win and vim.fn.getloclist(win, what) or vim.fn.getqflist(what)
  return (found.items or {})[1]
end

--- The file of an item; nil if it has none.
---@param item table
---@return string?
local function file_of(item)
  return item.bufnr > 0 and paths.of_buffer(item.bufnr) or nil
end

---@param item table
---@return string
local function place_of(item)
  local path = file_of(item)
  local name = path and paths.as_typed(path) or item.module
  local line = item.lnum > 0 and (':%d'):format(item.lnum) or ''
  local column = line ~= '' and item.col > 0 and (':%d'):format(item.col) or ''
  return name .. line .. column
end

--- An item as one line: place, type and text, as compilers write it.
---@param item table
---@return string
local function line_of(item)
  local place = place_of(item)
  local text = (TYPES[item.type:upper()] or '') .. item.text
  return sanitize.line(place ~= '' and ('%s: %s'):format(place, text) or text)
end

--- The list as text, an item a line.
---@return eca.ReadText? read
---@return string? fault why there is nothing to send, in one line
function M.read()
  local list = vim.fn.getqflist({ size = 0, title = 0 })
  if list.size == 0 then
    return nil, 'the quickfix list is empty'
  end
  local found = bounded.of_list(list.size, function(index)
    return line_of(assert(M.item(index)))
  end)
  local title = sanitize.line(list.title)
  local label = title ~= '' and ('quickfix list: %s'):format(title) or 'quickfix list'
  return { label = label, content = found.text, cut = found.cut }
end

--- The context for an item: its line in its file, or the whole file.
---@param item table
---@return eca.Context?
function M.context(item)
  local path = file_of(item)
  local line = item.lnum > 0 and item.lnum or nil
  local last = line and math.max(item.end_lnum or 0, line)
  return path and { type = 'file', path = path, first = line, last = last } or nil
end

return M
