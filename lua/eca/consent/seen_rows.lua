--- Which rows of a window's text were on the screen, since the window shows it.
---
--- Rule: a row is a row of the screen: a long line has many. A jump to the end shows the end alone.
local drawn_rows = require('eca.consent.drawn_rows')

local M = {}

---@alias eca.Lines [integer, integer] first and last line, 1-based

---@class eca.SeenRows
---@field look fun(): integer, integer notes what is on the screen; returns how many rows were never
---  on it, and how many are below its last one

--- The number of rows of some lines. Rows without text, as diffs have them, do not count.
---@param win integer
---@param lines eca.Lines
---@return integer
local function height(win, lines)
  local wanted = { start_row = lines[1] - 1, end_row = lines[2] - 1 }
  local size = vim.api.nvim_win_text_height(win, wanted)
  return size.all - (size.fill or 0)
end

--- Rows below the last one that is drawn.
---@param win integer
---@param drawn table<integer, eca.DrawnLine>
---@return integer
local function below(win, drawn)
  local last = math.max(0, unpack(vim.tbl_keys(drawn)))
  local count = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win))
  local rest = last < count and height(win, { last + 1, count }) or 0
  return rest + (drawn[last] and drawn[last].rows - drawn[last].last or 0)
end

---@param lines eca.Lines[]
---@param lnum integer
---@return boolean
local function has(lines, lnum)
  return vim.iter(lines):any(function(each)
    return each[1] <= lnum and lnum <= each[2]
  end)
end

--- Watch a window whose text does not change.
---@param win integer
---@param wanted? fun(): eca.Lines[] the lines that matter, default: all
---@return eca.SeenRows
function M.watch(win, wanted)
  local width, left = -1, 0
  local lines, seen = {}, {} ---@type eca.Lines[], table<string, true>
  --- Forget all: the text has other rows now.
  ---@param columns integer
  local function begin(columns)
    local count = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win))
    width, left, lines, seen = columns, 0, wanted and wanted() or { { 1, count } }, {}
    for _, each in ipairs(lines) do
      left = left + height(win, each)
    end
  end
  ---@param lnum integer
  ---@param row integer
  local function note(lnum, row)
    local name = lnum .. ' ' .. row
    left = left - (seen[name] and 0 or 1)
    seen[name] = true
  end
  return {
    look = function()
      local drawn, columns = drawn_rows.of(win)
      if columns ~= width then
        begin(columns)
      end
      for lnum, line in pairs(drawn) do
        for row = line.first, has(lines, lnum) and line.last or 0 do
          note(lnum, row)
        end
      end
      return math.max(0, left), below(win, drawn)
    end,
  }
end

return M
