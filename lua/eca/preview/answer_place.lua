--- Where the float with an answer goes: below the lines that were asked about, else above or beside
--- them.
---
--- Rules kept here:
--- - It hides neither these lines nor the line that the user's cursor is in, nor another answer,
---   while any other rows are free: it scrolls instead.
--- - Rows and columns are 0-based cells of the screen; the end of an area is exclusive.
local prompt_place = require('eca.approval.place')

local M = {}

local BORDER = 2
local WIDTH = 76
local MOST_ROWS = 16
local LEAST_BESIDE = 36
--- With these there is enough room directly at the lines.
local ENOUGH_ROWS = 8
--- Fewer rows than these are too few, if there is room beside the lines.
local LEAST_ROWS = 4

---@class eca.AnswerWant
---@field win integer the window with the lines
---@field first integer 1-based
---@field last integer
---@field rows integer of its text at its width
---@field taken eca.ScreenArea[] that other answers cover, and the lines that they are about
---@field own? integer its window
---@field forced? boolean the user wants to read it, whatever it hides

---@alias eca.Rows { [1]: integer, [2]: integer } from, to exclusive

--- The rows on the screen of lines of a window.
---@param want eca.AnswerWant
---@return eca.Rows? rows nil: they are not on the screen
local function rows_of(want)
  local win, info = want.win, vim.fn.getwininfo(want.win)[1]
  if want.last < info.topline or want.first > info.botline then
    return nil
  end
  local area = prompt_place.area_of(win)
  local top = want.first >= info.topline and vim.fn.screenpos(win, want.first, 1).row - 1 or -1
  local below ---@type integer
  if want.last < info.botline then
    below = vim.fn.screenpos(win, want.last + 1, 1).row - 1
  else
    local length = vim.fn.col({ want.last, '$' }, win)
    below = vim.fn.screenpos(win, want.last, math.max(1, length - 1)).row
  end
  top = math.max(top, area.top)
  return { top, below > top and below or area.bottom }
end

--- The parts of the screen's rows that none of some rows is in.
---@param screen eca.ScreenArea
---@param blocked eca.Rows[]
---@return eca.Rows[]
local function free_of(screen, blocked)
  table.sort(blocked, function(left, right)
    return left[1] < right[1]
  end)
  local free, from = {}, screen.top ---@type eca.Rows[], integer
  for _, rows in ipairs(blocked) do
    if rows[1] > from then
      free[#free + 1] = { from, rows[1] }
    end
    from = math.max(from, rows[2])
  end
  if from < screen.bottom then
    free[#free + 1] = { from, screen.bottom }
  end
  return free
end

--- The row of the cursor in the current window, if a float in some columns could hide it.
---@param want eca.AnswerWant
---@param left integer
---@param right integer
---@return eca.Rows?
local function cursor_row(want, left, right)
  local win = vim.api.nvim_get_current_win()
  local area = prompt_place.area_of(win)
  if win == want.own or want.forced or area.left >= right or area.right <= left then
    return nil
  end
  local cursor = vim.api.nvim_win_get_cursor(win)
  local row = vim.fn.screenpos(win, cursor[1], cursor[2] + 1).row - 1
  return row >= 0 and { row, row + 1 } or nil
end

--- The best free rows: directly below the lines, or directly above, if there is enough room; else
--- those with the most.
---@param free eca.Rows[]
---@param lines eca.Rows
---@param wanted integer rows of text
---@return eca.Rows?, integer room for text
local function best_of(free, lines, wanted)
  local best, most, rank = nil, 0, 0 ---@type eca.Rows?, integer, integer
  for _, rows in ipairs(free) do
    local room = math.min(rows[2] - rows[1] - BORDER, wanted)
    local is_next = rows[1] == lines[2] and 2 or rows[2] == lines[1] and 1 or 0
    is_next = room >= math.min(wanted, ENOUGH_ROWS) and is_next or 0
    if is_next > rank or is_next == rank and room > most then
      best, most, rank = rows, room, is_next
    end
  end
  return best, most
end

--- The first column right of the text of some lines, on the screen.
---@param want eca.AnswerWant
---@param rows integer
---@return integer
local function right_of(want, rows)
  local info, widest = vim.fn.getwininfo(want.win)[1], 0
  local first = math.max(want.first, info.topline)
  for line = first, math.min(first + rows + BORDER, info.botline) do
    widest = math.max(widest, vim.fn.virtcol({ line, '$' }, false, want.win))
  end
  return info.wincol - 1 + info.textoff + widest + 1
end

--- A place beside the lines.
---@param want eca.AnswerWant
---@param screen eca.ScreenArea
---@param lines eca.Rows
---@param wanted integer
---@return table?
local function beside(want, screen, lines, wanted)
  local left = right_of(want, wanted)
  local width = math.min(WIDTH, screen.right - left - BORDER)
  if width < LEAST_BESIDE then
    return nil
  end
  local height = math.min(wanted, screen.bottom - screen.top - BORDER)
  local row = math.max(screen.top, math.min(lines[1], screen.bottom - height - BORDER))
  return { row = row, col = left, width = width, height = height }
end

--- The columns of the text of a float.
---@return integer
function M.width()
  return math.max(1, math.min(WIDTH, vim.o.columns - BORDER))
end

--- Choose a place, as fields of a window's configuration.
---@param want eca.AnswerWant
---@return table? nil: there is no room, or the lines are not on the screen
---@return eca.ScreenArea? lines
function M.choose(want)
  local screen = prompt_place.screen()
  local lines = rows_of(want)
  if not lines and not want.forced then
    return nil
  end
  lines = lines or { screen.bottom, screen.bottom }
  local info, width = vim.fn.getwininfo(want.win)[1], M.width()
  local left = math.min(info.wincol - 1 + info.textoff, screen.right - width - BORDER)
  left = math.max(0, left)
  local blocked = { cursor_row(want, left, left + width + BORDER) }
  for _, area in ipairs(want.taken) do
    blocked[#blocked + 1] = area.left < left + width + BORDER and { area.top, area.bottom } or nil
  end
  blocked[#blocked + 1] = lines
  local about = { top = lines[1], bottom = lines[2], left = left, right = screen.right }
  local wanted = math.max(1, math.min(want.rows, MOST_ROWS))
  local rows, room = best_of(free_of(screen, blocked), lines, wanted)
  if room < math.min(wanted, LEAST_ROWS) then
    local place = beside(want, screen, lines, wanted)
    if place then
      return place, about
    elseif want.forced then
      rows = { screen.top, screen.bottom }
      room = math.max(1, math.min(wanted, screen.bottom - screen.top - BORDER))
    end
  end
  if not rows or room < 1 then
    return nil
  end
  local row = rows[1] >= lines[2] and rows[1] or rows[2] - room - BORDER
  return { row = math.max(0, row), col = left, width = width, height = room }, about
end

return M
