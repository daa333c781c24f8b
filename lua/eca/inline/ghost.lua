--- The text that an agent offers at the cursor, drawn there and not in the buffer.
---
--- Rules kept here:
--- - It stays as long as what the user types is its beginning, wherever that ends; with any other
---   change, or cursor, it is gone.
--- - All of it is drawn: what is behind the cursor is shown where it would be, and long rows wrap
---   as in the window. Of rows that the window has no room for, the number is drawn.
local display_width = require('eca.ui.display_width')

local M = {}

local namespace = vim.api.nvim_create_namespace('eca.inline')
local TEXT, NOTE = 1, 2 -- ids of extmarks
local GROUP = 'EcaGhost'

---@class eca.Ghost
---@field buf integer
---@field row integer 0-based, where it begins
---@field column integer 0-based, in bytes
---@field before string what stands before it in its row
---@field after string what stands behind it
---@field rows integer of the buffer when it came
---@field text string
---@field taken integer bytes of it that are typed or accepted

local shown ---@type eca.Ghost?
local noted ---@type integer? the buffer in which a note stands

---@alias eca.GhostRow [string, string?][] chunks with their highlight groups

--- A text with blanks for its tabs, as wide as they are from a column on.
---@param text string
---@param column integer
---@return string
local function expanded(text, column)
  local parts = vim.split(text, '\t', { plain = true })
  for index = 1, #parts - 1 do
    column = column + vim.api.nvim_strwidth(parts[index])
    local cells = vim.fn.strdisplaywidth('\t', column)
    parts[index], column = parts[index] .. (' '):rep(cells), column + cells
  end
  return table.concat(parts)
end

--- Add a row to a list, as several rows if it is wider than the window.
---@param rows eca.GhostRow[]
---@param row eca.GhostRow
---@param width integer
local function add_wrapped(rows, row, width)
  local line, left = {}, width ---@type eca.GhostRow, integer
  for _, chunk in ipairs(row) do
    local text = chunk[1]
    while vim.api.nvim_strwidth(text) > left do
      local head = display_width.head(text, left)
      line[#line + 1] = { head, chunk[2] }
      rows[#rows + 1] = line
      line, left, text = {}, width, text:sub(#head + 1)
    end
    line[#line + 1] = { text, chunk[2] }
    left = left - vim.api.nvim_strwidth(text)
  end
  rows[#rows + 1] = line
end

--- The rows below the cursor's: all but the first, and at the end what is behind the cursor.
---@param lines string[]
---@param after string
---@return eca.GhostRow[]
local function rows_below(lines, after)
  local rows = {} ---@type eca.GhostRow[]
  local info = vim.fn.getwininfo(vim.api.nvim_get_current_win())[1]
  local width = vim.wo.wrap and math.max(2, info.width - info.textoff) or math.huge
  for index = 2, #lines do
    local text = expanded(lines[index], 0)
    local row = { { text, GROUP } } ---@type eca.GhostRow
    if index == #lines and after ~= '' then
      row[2] = { expanded(after, vim.api.nvim_strwidth(text)) }
    end
    add_wrapped(rows, row, width)
  end
  return rows
end

---@param buf integer
---@param id integer
---@param row integer
---@param column integer
---@param options vim.api.keyset.set_extmark
local function mark(buf, id, row, column, options)
  options.id, options.hl_mode = id, 'combine'
  vim.api.nvim_buf_set_extmark(buf, namespace, row, column, options)
end

--- Draw what is left of it at the cursor.
---@param ghost eca.Ghost
---@param row integer 0-based
---@param column integer
---@param line string
local function draw(ghost, row, column, line)
  local lines = vim.split(ghost.text:sub(ghost.taken + 1), '\n', { plain = true })
  local first = expanded(lines[1], vim.fn.strdisplaywidth(line:sub(1, column)))
  local covers = #lines > 1 and ghost.after ~= ''
  if covers then -- what is behind the cursor is drawn in the last row
    local cells = vim.fn.strdisplaywidth(ghost.after, vim.fn.strdisplaywidth(line:sub(1, column)))
    first = first .. (' '):rep(cells - vim.api.nvim_strwidth(first))
  end
  local below = #lines > 1 and rows_below(lines, ghost.after) or {}
  mark(ghost.buf, TEXT, row, column, {
    virt_text = { { first, GROUP } },
    virt_text_pos = covers and 'overlay' or 'inline',
    virt_lines = #below > 0 and below or nil,
  })
  local hidden = #below > 0 and #below - (vim.fn.winheight(0) - vim.fn.winline()) or 0
  vim.api.nvim_buf_del_extmark(ghost.buf, namespace, NOTE)
  if hidden > 0 then
    local note = ('  +%d %s below'):format(hidden, hidden == 1 and 'row' or 'rows')
    mark(ghost.buf, NOTE, row, 0, { virt_text = { { note, GROUP } } })
  end
end

--- Remove what is drawn.
function M.clear()
  local buf = shown and shown.buf or noted
  if buf and vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  end
  shown, noted = nil, nil
end

--- Where the cursor is: its row (0-based), its column and its line.
---@return integer row, integer column, string line
function M.cursor()
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  return row - 1, column, vim.api.nvim_get_current_line()
end

--- Draw a text at the cursor of the current window.
---@param text string
function M.show(text)
  M.clear()
  local row, column, line = M.cursor()
  local buf = vim.api.nvim_get_current_buf()
  shown = { buf = buf, row = row, column = column, text = text, taken = 0 }
  shown.before, shown.after = line:sub(1, column), line:sub(column + 1)
  shown.rows = vim.api.nvim_buf_line_count(buf)
  draw(shown, row, column, line)
end

--- Say something at the end of the cursor's line, until the cursor moves.
---@param note string one line
function M.tell(note)
  M.clear()
  noted = vim.api.nvim_get_current_buf()
  local row = M.cursor()
  mark(noted, NOTE, row, 0, { virt_text = { { '  ' .. note, GROUP } } })
end

--- How much of it stands before the cursor now; nil if the buffer has anything else.
---@param ghost eca.Ghost
---@return integer? bytes
local function typed(ghost)
  local row, column, line = M.cursor()
  local is_below = row > ghost.row or (row == ghost.row and column >= ghost.column)
  local grown = vim.api.nvim_buf_line_count(ghost.buf) - ghost.rows
  if not is_below or grown ~= row - ghost.row or line:sub(column + 1) ~= ghost.after then
    return nil
  end
  local lines = vim.api.nvim_buf_get_text(ghost.buf, ghost.row, 0, row, column, {})
  local text = table.concat(lines, '\n')
  if not vim.startswith(ghost.before .. ghost.text, text) or #text < #ghost.before then
    return nil
  end
  return #text - #ghost.before
end

--- Go on behind what the user has typed of it. Otherwise it is removed.
---@return boolean shown some of it is left
function M.go_on()
  if not shown then
    M.clear()
    return false
  end
  local taken = vim.api.nvim_get_current_buf() == shown.buf and typed(shown) or nil
  if not taken or taken == #shown.text then
    M.clear()
    return false
  elseif taken ~= shown.taken then
    shown.taken = taken
    draw(shown, M.cursor())
  end
  return true
end

--- What is left of it at the cursor.
---@return string?
function M.rest()
  return M.go_on() and shown and shown.text:sub(shown.taken + 1) or nil
end

return M
