--- The rows of the float that asks before an undo: a column of names, and the host's text for each.
local display_width = require('eca.ui.display_width')
local panel = require('eca.ui.panel')
local paths = require('eca.files.paths')

local M = {}

--- Cells of a name at most.
local MOST_NAME = 40

---@param row eca.UndoRow
---@return string
local function name_of(row)
  return row.path and paths.short(row.path) or row.name
end

---@param row eca.UndoRow
---@param width integer of the column of names
---@param signs boolean a sign stands before rows that stay as they are
---@return eca.Segment[]
local function segments_of(row, width, signs)
  local pad = row.path and display_width.pad_path or display_width.pad
  local segments = {
    { signs and (row.take and '  ' or '! ') or '', 'EcaToolWaiting' },
    { pad(name_of(row), width), 'EcaToolTarget' },
  }
  return vim.list_extend(segments, row.take and row.taken or row.kept)
end

--- The text of the float.
---@param rows eca.UndoRow[]
---@return eca.PanelText
function M.text(rows)
  local width = 0
  for _, row in ipairs(rows) do
    width = math.min(MOST_NAME, math.max(width, vim.api.nvim_strwidth(name_of(row))))
  end
  local signs = vim.iter(rows):any(function(row)
    return row.kept ~= nil
  end)
  return panel.text(vim.tbl_map(function(row)
    return segments_of(row, width, signs)
  end, rows))
end

return M
