--- Draws a preview into its buffer: old lines that would go are marked, new ones are virtual lines
--- below them, and a last virtual line says how it stands and which keys act on it.
---
--- Rules kept here:
--- - Virtual lines are wrapped here, for the narrowest window that shows the buffer: Neovim 0.10
---   cuts them.
--- - What is shown of a line is safe: control characters and invisible ones are written out, and
---   what is accepted is the line itself.
local region = require('eca.preview.region')
local sanitize = require('eca.ui.sanitize')
local width = require('eca.ui.display_width')

local M = {}

local LEAST_WIDTH = 20
local MOST_WRAPPED = 5000 -- lines that are kept as they are drawn
local UNSEEN_WIDTH = 78 -- while no window shows the buffer

--- The cells of a line in the narrowest window that shows a buffer.
---@param buf integer
---@return integer
local function text_width(buf)
  local narrowest ---@type integer?
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local info = vim.fn.getwininfo(win)[1]
    local cells = info.width - info.textoff
    narrowest = math.min(narrowest or cells, cells)
  end
  return math.max(LEAST_WIDTH, narrowest or UNSEEN_WIDTH)
end

---@alias eca.VirtualLine eca.Segment[]

--- Wrap segments into virtual lines. One that `needs` more cells than are left begins a new line.
---@param segments eca.Segment[]
---@param cells integer
---@return eca.VirtualLine[]
local function wrap(segments, cells)
  local lines, left = { {} }, cells ---@type eca.VirtualLine[], integer
  local function put(text, group)
    lines[#lines][#lines[#lines] + 1] = { text, group }
    left = left - vim.api.nvim_strwidth(text)
  end
  local function break_line()
    lines[#lines + 1], left = {}, cells
  end
  for _, segment in ipairs(segments) do
    local rest = segment[1]
    if segment.needs and left < cells and segment.needs > left then
      break_line()
      rest = rest:gsub('^ +', '')
    end
    while rest ~= '' do
      local head = width.head(rest, left)
      if head == '' and left < cells then
        break_line()
      else
        head = head ~= '' and head or vim.fn.strcharpart(rest, 0, 1)
        put(head, segment[2])
        rest = rest:sub(#head + 1)
      end
    end
  end
  return lines
end

--- A piece of a line as it is shown, from a column on.
---@param text string
---@param column integer cells before it, for tabs
---@param tab integer cells
---@return string
local function shown(text, column, tab)
  local pieces = vim.split(text, '\t', { plain = true })
  local done = ''
  for place, piece in ipairs(pieces) do
    done = done .. sanitize.visible((piece:gsub('%c', vim.fn.strtrans)))
    if place < #pieces then
      local at = column + vim.api.nvim_strwidth(done)
      done = done .. (' '):rep(tab - at % tab)
    end
  end
  return done
end

--- A new line as segments: the part of it that differs stands out.
---@param line string
---@param part? [integer, integer, integer]
---@param tab integer
---@return eca.Segment[]
local function segments_of(line, part, tab)
  local from, to = part and part[2] or #line, part and part[3] or #line
  local segments, column = {}, 0
  for _, piece in ipairs({
    { line:sub(1, from), 'EcaDiffAdd' },
    { line:sub(from + 1, to), 'EcaDiffAddText' },
    { line:sub(to + 1), 'EcaDiffAdd' },
  }) do
    local text = shown(piece[1], column, tab)
    column = column + vim.api.nvim_strwidth(text)
    segments[#segments + 1] = text ~= '' and { text, piece[2] } or nil
  end
  return #segments > 0 and segments or { { ' ', 'EcaDiffAdd' } }
end

local wrapped, count = {}, 0 ---@type table<string, eca.VirtualLine[]>, integer

--- A new line as virtual lines. An answer that streams has most of them again each time.
---@param line string
---@param part? [integer, integer, integer]
---@param cells integer
---@param tab integer
---@return eca.VirtualLine[]
local function virtual(line, part, cells, tab)
  local key = ('%d %d %d %d %s'):format(
    cells,
    tab,
    part and part[2] or 0,
    part and part[3] or 0,
    line
  )
  if not wrapped[key] then
    if count >= MOST_WRAPPED then
      wrapped, count = {}, 0
    end
    wrapped[key], count = wrap(segments_of(line, part, tab), cells), count + 1
  end
  return wrapped[key]
end

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
    vim.list_extend(lines, virtual(line, parts[place], cells, tab))
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
    local again = { { shown(first, 0, vim.bo[buf].tabstop), '' } }
    mark_rows(drawing, 0, 1, 'EcaDiffDelete')
    vim.list_extend(lines, wrap(again, cells))
    below[0] = vim.list_extend(lines, below[0] or {})
  end
end

---@class eca.Drawing what is drawn of a preview
---@field region eca.Region
---@field namespace integer its own
---@field hunks eca.PreviewHunk[] those that are undecided
---@field status eca.Segment[]

--- Remove what is drawn of a preview.
---@param buf integer
---@param namespace integer
function M.clear(buf, namespace)
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  end
end

--- Draw a preview.
---@param drawing eca.Drawing
function M.one(drawing)
  local buf = drawing.region.buf
  M.clear(buf, drawing.namespace)
  local cells, tab = text_width(buf), vim.bo[buf].tabstop
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
      add(below, last - 1, wrap(line, cells))
    end
  end
  local _, last = region.rows(drawing.region)
  if last then
    add(below, last - 1, wrap(drawing.status, cells))
  end
  lower(drawing, below, cells)
  for row, lines in pairs(below) do
    local options = { virt_lines = lines, strict = false }
    vim.api.nvim_buf_set_extmark(buf, drawing.namespace, row, 0, options)
  end
end

--- The rows that a preview takes in a window, its virtual lines included.
---@param drawing eca.Drawing
---@return integer
function M.height(drawing)
  local buf = drawing.region.buf
  local cells, tab = text_width(buf), vim.bo[buf].tabstop
  local first, last = region.rows(drawing.region)
  local rows = (last or 0) - (first or 0) + 1
  for _, hunk in ipairs(drawing.hunks) do
    rows = rows + #new_lines(hunk, cells, tab)
  end
  return rows
end

return M
