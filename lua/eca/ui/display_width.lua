--- Texts of a given width on the screen.
---
--- Rules kept here: they are measured for any place (`nvim_strwidth`); `strdisplaywidth()` counts
--- cells that the options of the current window add where it would wrap a text.
local M = {}

--- Columns that a numbered list leaves free: its number, and one at the end so that no row wraps.
local LIST_MARGIN = #'100: ' + 1
--- Part of a row that its title keeps in a narrow list.
local LEAST_TITLE = 0.4

--- Cut a text to a number of cells, the last one an ellipsis.
---@param text string
---@param cells integer
---@return string
function M.cut(text, cells)
  if vim.api.nvim_strwidth(text) <= cells then
    return text
  end
  local length = math.min(vim.fn.strchars(text), cells)
  local head = vim.fn.strcharpart(text, 0, length)
  repeat
    length = length - 1
  until length <= 0 or vim.api.nvim_strwidth(vim.fn.strcharpart(head, 0, length)) < cells
  -- late: only what is cut needs it
  return require('eca.text.scan').trim(vim.fn.strcharpart(head, 0, length)) .. '…'
end

--- Make a path exactly so many cells wide: what is cut is its beginning, the name stays.
---@param path string
---@param cells integer
---@return string
function M.pad_path(path, cells)
  local shown = path
  if vim.api.nvim_strwidth(path) > cells then
    local count = vim.fn.strchars(path)
    local length = math.min(count, cells)
    local tail = vim.fn.strcharpart(path, count - length)
    repeat
      length = length - 1
      tail = vim.fn.strcharpart(tail, 1)
      shown = '…' .. tail
    until length <= 0 or vim.api.nvim_strwidth(shown) <= cells
  end
  return shown .. (' '):rep(cells - vim.api.nvim_strwidth(shown))
end

--- Make a text exactly so many cells wide.
---@param text string
---@param cells integer
---@return string
function M.pad(text, cells)
  local shown = M.cut(text, cells)
  return shown .. (' '):rep(cells - vim.api.nvim_strwidth(shown))
end

--- A row of a picker's list that does not wrap: a title, then facts. Where the screen is narrow the
--- title is cut first, then the last facts.
---@param title string
---@param cells integer that the title takes where there is room
---@param facts string[] what the user needs most first
---@return string
function M.list_row(title, cells, facts)
  local room = vim.o.columns - LIST_MARGIN
  local told = '  ' .. table.concat(facts, ' · ')
  local left = math.max(math.floor(room * LEAST_TITLE), room - vim.api.nvim_strwidth(told))
  return M.cut(M.pad(title, math.min(cells, left)) .. told, room)
end

return M
