--- The block of a pending request, as the chat beside the float shows it.
---
--- Rules kept here:
--- - A block stands in for the float's text only if all of that is on the screen, in the same
---   lines: no cell beyond an edge, in a fold, concealed, or under another float. The float alone
---   marks tabs and blanks at the end of a line, so these never count.
local place = require('eca.approval.place')
local seen_rows = require('eca.consent.seen_rows')
local transcript = require('eca.transcript')
local windows = require('eca.window')

local M = {}

---@class eca.SeenBlock
---@field area eca.ScreenArea the part of the block that is on the screen
---@field whole boolean it shows all of the request

---@param line string
---@param is_diff boolean
---@return boolean
local function has_marks(line, is_diff)
  local blank = line:find('[\t ]$') ~= nil and not (is_diff and line == ' ')
  return blank or line:find('\t', 1, true) ~= nil or line:find('\u{a0}', 1, true) ~= nil
end

--- Do the lines of a block contain all of the request?
---@param lines string[] the header first
---@param item eca.Pending
---@return boolean
local function contains(lines, item)
  local wanted = item.lines or {}
  for _, line in ipairs(wanted) do
    if has_marks(line, item.language == 'diff') then
      return false
    end
  end
  local titled = item.titled or wanted[1] == item.title
  if not titled and not (lines[1] or ''):find(item.title, 1, true) then
    return false
  end
  for before = 0, #lines - #wanted do
    if vim.deep_equal(vim.list_slice(lines, before + 1, before + #wanted), wanted) then
      return true
    end
  end
  return false
end

--- The area of the screen that some rows of a window's buffer take.
---@param win integer
---@param first integer 0-based row, on the screen
---@param last integer the same
---@return eca.ScreenArea
local function area_of(win, first, last)
  local area = place.area_of(win)
  local text = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), last, last + 1, false)
  local top = vim.fn.screenpos(win, first + 1, 1).row
  local bottom = vim.fn.screenpos(win, last + 1, math.max(1, #(text[1] or ''))).row
  area.top = top > 0 and top - 1 or area.top
  area.bottom = bottom > 0 and bottom or area.bottom
  return area
end

--- Are all rows of some lines drawn?
---@param win integer
---@param first integer 0-based row
---@param last integer
---@param float? integer that makes way for them
---@return boolean
local function is_drawn(win, first, last, float)
  local drawn = seen_rows.drawn(win, float)
  for lnum = first + 1, last + 1 do
    local line = drawn[lnum]
    if not line or line.first > 1 or line.last < line.rows then
      return false
    end
  end
  return true
end

--- Could anything be drawn instead of the text of some rows, or over it?
---@param win integer
---@param buf integer
---@param first integer 0-based row
---@param last integer
---@return boolean
local function is_altered(win, buf, first, last)
  local marks = vim.api.nvim_buf_get_extmarks(buf, -1, { first, 0 }, { last, -1 }, {
    details = true,
    overlap = true,
  })
  for _, mark in ipairs(marks) do
    local details = mark[4]
    local position = details.virt_text and details.virt_text_pos
    local over = position == 'overlay' or position == 'right_align' or position == 'win_col'
    if over or details.conceal or details.conceal_lines or details.virt_text_win_col then
      return true
    end
  end
  local conceals = vim.iter(vim.fn.getmatches(win)):any(function(match)
    return match.group == 'Conceal'
  end)
  local syntax = vim.b[buf].current_syntax or vim.treesitter.highlighter.active[buf]
  return conceals or syntax ~= nil or vim.wo[win].rightleft or vim.wo[win].arabic
end

--- Where the block of a request is on the screen; nil if it is not.
---@param item eca.Pending
---@param float? integer the window that asks
---@param shows_more? boolean the float shows more than the block
---@return eca.SeenBlock?
function M.seen(item, float, shows_more)
  local win = windows.chat_shown() == item.chat and windows.shown() or nil
  if not win then
    return nil
  end
  local buf = vim.api.nvim_win_get_buf(win)
  local first, last = transcript.range(buf, item.block)
  local top, bottom = vim.fn.line('w0', win) - 1, vim.fn.line('w$', win) - 1
  if not first or not last or last < top or first > bottom then
    return nil
  end
  local area = area_of(win, math.max(first, top), math.min(last, bottom))
  local whole = not item.cut
    and not shows_more
    and is_drawn(win, first, last, float)
    and not is_altered(win, buf, first, last)
    and contains(vim.api.nvim_buf_get_lines(buf, first, last + 1, false), item)
  return { area = area, whole = whole }
end

return M
