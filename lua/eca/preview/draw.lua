--- Draws a preview into its buffer: old lines that would go are marked, new ones are virtual lines
--- below them, and a last virtual line says how it stands and which keys act on it.
local region = require('eca.preview.region')
local virtual_lines = require('eca.ui.virtual_lines')

local M = {}

---@param hunk eca.PreviewHunk
---@param cells integer
---@param tab integer
---@return eca.VirtualLine[]
local function new_lines(hunk, cells, tab)
  local parts, lines = {}, {} ---@type table<integer, any>, eca.VirtualLine[]
  for _, part in ipairs(hunk.new) do
    parts[part[1] + 1] = part
  end
  for place, line in ipairs(hunk.lines) do
    local wrapped = virtual_lines.of_line(line, parts[place], 'EcaDiffAdd', cells, tab)
    vim.list_extend(lines, wrapped)
  end
  return lines
end

---@param drawing eca.Drawing
---@param first integer
---@param last integer exclusive
---@param group string
local function mark_rows(drawing, first, last, group)
  if first < last then
    local options = { end_row = last, hl_group = group, hl_eol = true, strict = false }
    vim.api.nvim_buf_set_extmark(drawing.region.buf, drawing.namespace, first, 0, options)
  end
end

---@param drawing eca.Drawing
---@param hunk eca.PreviewHunk
---@param first integer row of its first old line
local function mark_parts(drawing, hunk, first)
  local buf, namespace = drawing.region.buf, drawing.namespace
  for _, part in ipairs(hunk.old) do
    local options = { end_col = part[3], hl_group = 'EcaDiffDeleteText', strict = false }
    options.priority = 4100 -- above the whole line
    vim.api.nvim_buf_set_extmark(buf, namespace, first + part[1], part[2], options)
  end
end

--- Virtual lines by the row below which they are; -1: above the first row.
---@alias eca.LinesBelow table<integer, eca.VirtualLine[]>

---@param below eca.LinesBelow
---@param row integer
---@param lines eca.VirtualLine[]
local function add(below, row, lines)
  below[row] = vim.list_extend(below[row] or {}, lines)
end

--- Neovim shows no virtual lines above the first row: that row is drawn again below them.
---@param drawing eca.Drawing
---@param below eca.LinesBelow
---@param cells integer
local function lower(drawing, below, cells)
  local lines, buf = below[-1], drawing.region.buf
  if lines then
    below[-1] = nil
    local first = vim.api.nvim_buf_get_lines(buf, 0, 1, false)[1]
    local again = { { virtual_lines.shown(first, 0, vim.bo[buf].tabstop), '' } }
    mark_rows(drawing, 0, 1, 'EcaDiffDelete')
    vim.list_extend(lines, virtual_lines.wrap(again, cells))
    below[0] = vim.list_extend(lines, below[0] or {})
  end
end

---@class eca.Drawing what is drawn of a preview
---@field region eca.Region
---@field namespace integer its own
---@field hunks eca.PreviewHunk[] those that are undecided
---@field status eca.Segment[]
---@field is_running boolean its answer still comes

--- Remove what is drawn of a preview.
---@param buf integer
---@param namespace integer
function M.clear(buf, namespace)
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  end
end

--- Is what is drawn below a line on the screen of a window?
---@param win integer
---@param last integer 1-based
---@return boolean
local function is_below_seen(win, last)
  local info = vim.fn.getwininfo(win)[1]
  if last < info.topline or last > info.botline then
    return false
  end
  local row = vim.fn.screenpos(win, last, 1).row
  local rows = vim.api.nvim_win_text_height(win, { start_row = last - 1, end_row = last - 1 }).all
  return row > 0 and row + rows - 1 < info.winrow + info.height
end

--- The first line of a region on the screen of a window that has room for a text behind it.
---@param drawing eca.Drawing
---@param win integer
---@param cells integer
---@return integer? row
local function row_with_room(drawing, win, cells)
  local first, last = region.rows(drawing.region)
  if not (first and last) then -- they were deleted a moment ago
    return nil
  end
  local info = vim.fn.getwininfo(win)[1]
  local room = info.width - info.textoff - cells
  for line = math.max(first + 1, info.topline), math.min(last, info.botline) do
    if vim.fn.virtcol({ line, '$' }, false, win) <= room then
      return line - 1
    end
  end
end

--- Say behind a line on the screen how a preview stands, where its last line is not on it.
---@param drawing eca.Drawing
---@param last integer
local function draw_brief(drawing, last)
  local buf, cells, text = drawing.region.buf, 2, { { '  ', '' } }
  for place, segment in ipairs(drawing.status) do
    cells = cells + vim.api.nvim_strwidth(segment[1])
    text[place + 1] = { segment[1], segment[2] }
  end
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local row = not is_below_seen(win, last) and row_with_room(drawing, win, cells)
    if row then
      local options = { virt_text = text, hl_mode = 'combine', strict = false }
      vim.api.nvim_buf_set_extmark(buf, drawing.namespace, row, 0, options)
    end
  end
end

--- Draw a preview.
---@param drawing eca.Drawing
function M.one(drawing)
  local buf = drawing.region.buf
  M.clear(buf, drawing.namespace)
  if region.is_lost(drawing.region) then -- drawn when its lines were looked for
    return
  end
  local cells, tab = virtual_lines.text_width(buf), vim.bo[buf].tabstop
  local below = {} ---@type eca.LinesBelow
  for _, hunk in ipairs(drawing.hunks) do
    local first, last = region.place(drawing.region, hunk)
    if first then
      mark_rows(drawing, first, last, 'EcaDiffDelete')
      mark_parts(drawing, hunk, first)
      add(below, last - 1, new_lines(hunk, cells, tab))
    else
      first, last = region.around(drawing.region, hunk)
      local line = { { 'conflict: you have edited these lines', 'EcaWarning' } }
      mark_rows(drawing, first, last, 'EcaWarning')
      add(below, last - 1, virtual_lines.wrap(line, cells))
    end
  end
  local _, last = region.rows(drawing.region)
  if last then
    add(below, last - 1, virtual_lines.wrap(drawing.status, cells))
  end
  lower(drawing, below, cells)
  for row, lines in pairs(below) do
    local options = { virt_lines = lines, strict = false }
    vim.api.nvim_buf_set_extmark(buf, drawing.namespace, row, 0, options)
  end
  if last and drawing.is_running then
    draw_brief(drawing, last)
  end
end

--- The rows that a preview takes in a window, its virtual lines included.
---@param drawing eca.Drawing
---@return integer
function M.height(drawing)
  local buf = drawing.region.buf
  local cells, tab = virtual_lines.text_width(buf), vim.bo[buf].tabstop
  local first, last = region.rows(drawing.region)
  local rows = (last or 0) - (first or 0) + 1
  for _, hunk in ipairs(drawing.hunks) do
    rows = rows + #new_lines(hunk, cells, tab)
  end
  return rows
end

return M
