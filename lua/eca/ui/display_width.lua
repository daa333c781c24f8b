--- Cuts and pads texts to a width on the screen.
---
--- Rules kept here: texts are measured by `nvim_strwidth`, which gives the same anywhere.
--- `strdisplaywidth()` adds cells where the current window would wrap a text.
local M = {}

--- Columns of a numbered list that a row cannot use: the number, and the last so that it does not
--- wrap.
local LIST_MARGIN = #'100: ' + 1
--- Least part of a row that its title gets in a narrow list.
local LEAST_TITLE = 0.4

--- The beginning of a text that takes so many cells at most.
---@param text string
---@param cells integer
---@return string
function M.head(text, cells)
  return vim.fn.printf(('%%.%dS'):format(math.max(0, cells)), text)
end

--- The end of a text that takes so many cells at most.
---@param text string
---@param cells integer
---@return string
function M.tail(text, cells)
  local last = vim.fn.strcharpart(text, math.max(0, vim.fn.strchars(text) - cells))
  local over = vim.api.nvim_strwidth(last) - cells
  local tail = last:sub(#M.head(last, over) + 1)
  local fits = vim.api.nvim_strwidth(tail) <= cells
  return fits and tail or last:sub(#M.head(last, over + 1) + 1) -- without half a wide character
end

--- Cut a text to a number of cells; the last one is an ellipsis. Blanks at its beginning stay: in
--- rows of a list they are in place of a mark.
---@param text string
---@param cells integer
---@return string
function M.cut(text, cells)
  if vim.api.nvim_strwidth(text) <= cells then
    return text
  end
  -- late: only needed if a text is cut
  return require('eca.text.scan').without_end(M.head(text, cells - 1), '%s') .. '…'
end

--- Make a path exactly so many cells wide. Its beginning is cut, so that the file name stays.
---@param path string
---@param cells integer
---@return string
function M.pad_path(path, cells)
  local is_cut = vim.api.nvim_strwidth(path) > cells
  local shown = is_cut and '…' .. M.tail(path, cells - 1) or path
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

--- A row of a picker that does not wrap: a title, then facts. On a narrow screen the title is cut
--- first, then the last facts.
---@param title string
---@param cells integer width of the title if there is room
---@param facts string[] the most important first
---@return string
function M.list_row(title, cells, facts)
  local room = vim.o.columns - LIST_MARGIN
  local tail = '  ' .. table.concat(facts, ' · ')
  local left = math.max(math.floor(room * LEAST_TITLE), room - vim.api.nvim_strwidth(tail))
  return M.cut(M.pad(title, math.min(cells, left)) .. tail, room)
end

return M
