--- Texts of a given width on the screen.
local M = {}

--- Cut a text to a number of cells, the last one an ellipsis.
---@param text string
---@param cells integer
---@return string
function M.cut(text, cells)
  if vim.fn.strdisplaywidth(text) <= cells then
    return text
  end
  local length = math.min(vim.fn.strchars(text), cells)
  local head = vim.fn.strcharpart(text, 0, length)
  repeat
    length = length - 1
  until length <= 0 or vim.fn.strdisplaywidth(vim.fn.strcharpart(head, 0, length)) < cells
  return require('eca.scan').trim(vim.fn.strcharpart(head, 0, length)) .. '…'
end

--- Make a path exactly so many cells wide: what is cut is its beginning, the name stays.
---@param path string
---@param cells integer
---@return string
function M.pad_path(path, cells)
  local shown = path
  if vim.fn.strdisplaywidth(path) > cells then
    local count = vim.fn.strchars(path)
    local length = math.min(count, cells)
    local tail = vim.fn.strcharpart(path, count - length)
    repeat
      length = length - 1
      tail = vim.fn.strcharpart(tail, 1)
      shown = '…' .. tail
    until length <= 0 or vim.fn.strdisplaywidth(shown) <= cells
  end
  return shown .. (' '):rep(cells - vim.fn.strdisplaywidth(shown))
end

--- Make a text exactly so many cells wide.
---@param text string
---@param cells integer
---@return string
function M.pad(text, cells)
  local shown = M.cut(text, cells)
  return shown .. (' '):rep(cells - vim.fn.strdisplaywidth(shown))
end

return M
