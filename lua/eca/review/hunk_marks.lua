--- Changes that are not reviewed, in the buffer of their file: where they are, and what is drawn of
--- them: signs, new lines and words, and old lines as virtual ones.
---
--- Rules kept here:
--- - The buffer is untouched: all is extmarks. A change is only in a buffer that has its lines.
--- - What is near the screen is drawn, and nothing else.
--- - The sign gives way to those of plugins for version control, which mark the same lines: then
---   the number and the line still show it.
--- - In a diff nothing is drawn: it shows the changes itself, and virtual lines would shift it.
local hunks = require('eca.review.hunks')
local list_rows = require('eca.review.rows')
local virtual_lines = require('eca.ui.virtual_lines')

local M = {}

local places = vim.api.nvim_create_namespace('eca.review.places')
local drawn = vim.api.nvim_create_namespace('eca.review')

local SIGN, SIGN_DELETED = '▌', '▁'
local SIGN_PRIORITY = 5 -- gitsigns and mini.diff have more
local LINE_PRIORITY = 90 -- below those of the syntax
local WORD_PRIORITY = 91
local MOST_OLD = 500 -- lines of a change

---@alias eca.RowRange [integer, integer] 0-based, the last exclusive

---@class eca.HunkMark
---@field change eca.Change
---@field id integer extmark of its lines, or of the line below if it has none

---@class eca.HunkDrawing
---@field rows eca.RowRange
---@field cells integer of a line
---@field tab integer
---@field is_in_diff boolean then nothing is drawn

local marks = {} ---@type table<integer, eca.HunkMark[]> by buffer, from above
local drawings = {} ---@type table<integer, eca.HunkDrawing> what is drawn, by buffer

--- Where a change goes in a buffer, as the host has said; nil: the buffer has other lines there.
---@param buf integer
---@param change eca.Change
---@return integer? first 0-based
---@return integer? last exclusive
local function place(buf, change)
  if change.kind == 'new' then
    return 0, vim.api.nvim_buf_line_count(buf)
  elseif change.kind ~= 'lines' then
    return 0, 0
  end
  local first = change.line - 1
  if hunks.stands(buf, change, first) then
    return first, first + change.count
  end
end

--- Show the changes of a buffer's file; what was shown before is removed.
---@param buf integer
---@param changes eca.Change[]
---@return boolean complete false: the buffer has not the lines of all changes
function M.set(buf, changes)
  M.clear(buf)
  local complete = true
  local found = {} ---@type eca.HunkMark[]
  for _, change in ipairs(changes) do
    local first, last = place(buf, change)
    if first then
      local options = { end_row = last, end_col = 0, end_right_gravity = false, strict = false }
      local id = vim.api.nvim_buf_set_extmark(buf, places, first, 0, options)
      found[#found + 1] = { change = change, id = id }
    end
    complete = complete and first ~= nil
  end
  marks[buf] = found
  M.draw(buf)
  return complete
end

--- Remove all that is shown in a buffer.
---@param buf integer
function M.clear(buf)
  marks[buf], drawings[buf] = nil, nil
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_clear_namespace(buf, places, 0, -1)
    vim.api.nvim_buf_clear_namespace(buf, drawn, 0, -1)
  end
end

--- The buffers that show changes.
---@return integer[]
function M.buffers()
  return vim.tbl_keys(marks)
end

--- Where a change is now.
---@param buf integer
---@param mark eca.HunkMark
---@return integer first 0-based
---@return integer last exclusive; as `first`: it has no lines, and is above that row
function M.rows(buf, mark)
  local at = vim.api.nvim_buf_get_extmark_by_id(buf, places, mark.id, { details = true })
  local first = at[1] or 0
  return first, math.max(first, (at[3] or {}).end_row or first)
end

--- The changes in a buffer, from above.
---@param buf integer
---@return eca.HunkMark[]
function M.all(buf)
  return marks[buf] or {}
end

--- The changes at a row. One without lines is at both rows beside it.
---@param buf integer
---@param row integer 0-based
---@return eca.HunkMark[]
function M.at(buf, row)
  return vim.tbl_filter(function(mark)
    local first, last = M.rows(buf, mark)
    if first == last then
      return row == first or row == first - 1
    end
    return first <= row and row < last
  end, M.all(buf))
end

-- Drawing ----------------------------------------------------------------------------------------

---@param buf integer
---@param row integer
---@param column integer
---@param options table
local function put(buf, row, column, options)
  options.strict = false
  vim.api.nvim_buf_set_extmark(buf, drawn, row, column, options)
end

---@param buf integer
---@param row integer
---@param sign string
local function put_sign(buf, row, sign)
  local options = { sign_text = sign, sign_hl_group = 'EcaReviewSign', priority = SIGN_PRIORITY }
  options.number_hl_group = 'EcaReviewSign'
  put(buf, row, 0, options)
end

--- Mark the new lines of a change, as far as they are in some rows.
---@param buf integer
---@param change eca.Change
---@param first integer
---@param last integer exclusive
---@param rows eca.RowRange
local function draw_new(buf, change, first, last, rows)
  local replaces = first + #(change.before or {})
  for row = math.max(first, rows[1]), math.min(last, rows[2]) - 1 do
    local group = row < replaces and 'EcaReviewChange' or 'EcaReviewAdd'
    local options = { end_row = row + 1, hl_group = group, hl_eol = true }
    options.priority = LINE_PRIORITY
    put(buf, row, 0, options)
    put_sign(buf, row, SIGN)
  end
  for _, part in ipairs(change.new_parts or {}) do
    local options = { end_col = part[3], hl_group = 'EcaReviewText', priority = WORD_PRIORITY }
    put(buf, first + part[1], part[2], options)
  end
end

---@param buf integer
---@param text string
---@return eca.VirtualLine[]
local function said(buf, text)
  return virtual_lines.wrap({ { text, 'EcaReviewSign' } }, virtual_lines.text_width(buf))
end

---@param buf integer
---@param change eca.Change
---@return eca.VirtualLine[]
local function old_lines(buf, change)
  local cells, tab = virtual_lines.text_width(buf), vim.bo[buf].tabstop
  local parts, lines = {}, {} ---@type table<integer, any>, eca.VirtualLine[]
  for _, part in ipairs(change.old_parts or {}) do
    parts[part[1] + 1] = part
  end
  local before = hunks.adapted(buf, change.before or {})
  for number, line in ipairs({ unpack(before, 1, math.min(#before, MOST_OLD)) }) do
    local group = 'EcaDiffDelete'
    vim.list_extend(lines, virtual_lines.of_line(line, parts[number], group, cells, tab))
  end
  if #before > MOST_OLD then
    vim.list_extend(lines, said(buf, ('… and %d more deleted lines'):format(#before - MOST_OLD)))
  end
  return lines
end

--- Put the old lines of a change above its new ones. Neovim shows no virtual lines above the first
--- row: there they go below what replaces them.
---@param buf integer
---@param change eca.Change
---@param first integer
---@param last integer exclusive
local function draw_old(buf, change, first, last)
  local lines, count = old_lines(buf, change), vim.api.nvim_buf_line_count(buf)
  if #lines == 0 then
    return
  elseif last == 0 then
    lines = vim.list_extend(said(buf, 'deleted above line 1:'), lines)
  end
  if first == 0 or first >= count then
    put(buf, math.max(math.min(last, count) - 1, 0), 0, { virt_lines = lines })
  else
    put(buf, first, 0, { virt_lines = lines, virt_lines_above = true })
  end
  if first == last then -- nothing else marks the place
    put_sign(buf, math.max(first - 1, 0), SIGN_DELETED)
  end
end

---@param buf integer
---@param mark eca.HunkMark
---@param rows eca.RowRange
local function draw_one(buf, mark, rows)
  local change = mark.change
  local first, last = M.rows(buf, mark)
  if first > rows[2] or last < rows[1] then
    return
  end
  draw_new(buf, change, first, last, rows)
  if change.kind == 'lines' then
    draw_old(buf, change, first, last)
  elseif rows[1] == 0 then
    put(buf, 0, 0, { virt_lines = said(buf, list_rows.subject(change) .. ', not reviewed yet') })
  end
end

--- The rows of all windows of a buffer.
---@param buf integer
---@return eca.RowRange?
local function rows_shown(buf)
  local first, last ---@type integer?, integer?
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local info = vim.fn.getwininfo(win)[1]
    first = math.min(first or math.huge, info.topline - 1)
    last = math.max(last or 0, info.botline)
  end
  return first and { first, last }
end

--- Is what is drawn of a buffer what its windows need?
---@param buf integer
---@param shown eca.RowRange
---@return boolean
local function is_drawn(buf, shown)
  local last = drawings[buf]
  return last ~= nil
    and last.rows[1] <= shown[1]
    and shown[2] <= last.rows[2]
    and last.cells == virtual_lines.text_width(buf)
    and last.tab == vim.bo[buf].tabstop
    and last.is_in_diff == virtual_lines.is_in_diff(buf)
end

--- Draw what is near the screen, unless it is drawn already.
---@param buf integer
function M.draw(buf)
  local shown = marks[buf] and vim.api.nvim_buf_is_loaded(buf) and rows_shown(buf)
  if not shown or is_drawn(buf, shown) then
    return
  end
  local away = vim.o.lines
  local near = { math.max(shown[1] - away, 0), shown[2] + away }
  vim.api.nvim_buf_clear_namespace(buf, drawn, 0, -1)
  drawings[buf] = {
    rows = near,
    cells = virtual_lines.text_width(buf),
    tab = vim.bo[buf].tabstop,
    is_in_diff = virtual_lines.is_in_diff(buf),
  }
  for _, mark in ipairs(drawings[buf].is_in_diff and {} or marks[buf]) do
    draw_one(buf, mark, near)
  end
end

--- Follow the screen: windows scroll, and how wide their columns are is known once they are drawn.
vim.api.nvim_set_decoration_provider(vim.api.nvim_create_namespace('eca.review.screen'), {
  on_end = function()
    for buf in pairs(marks) do
      local shown = rows_shown(buf)
      if shown and not is_drawn(buf, shown) then
        vim.schedule(function()
          M.draw(buf)
        end)
      end
    end
  end,
})

return M
