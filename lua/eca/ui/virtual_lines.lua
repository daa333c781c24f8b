--- Virtual lines: text that is shown between the lines of a buffer and is no part of it.
---
--- Rules kept here:
--- - They are wrapped here, for the narrowest window that shows the buffer: Neovim 0.10 cuts them.
--- - What is shown of a line is safe: control characters and invisible ones are written out.
local sanitize = require('eca.ui.sanitize')
local width = require('eca.ui.display_width')

local M = {}

local LEAST_WIDTH = 20
local MOST_WRAPPED = 5000 -- lines that are kept as they are drawn
local UNSEEN_WIDTH = 78 -- while no window shows the buffer

--- The cells of a line in the narrowest window that shows a buffer.
---@param buf integer
---@return integer
function M.text_width(buf)
  local narrowest ---@type integer?
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local info = vim.fn.getwininfo(win)[1]
    local cells = info.width - info.textoff
    narrowest = math.min(narrowest or cells, cells)
  end
  return math.max(LEAST_WIDTH, narrowest or UNSEEN_WIDTH)
end

--- Is a buffer one side of a diff in this tab page? It shows changes itself, and virtual lines
--- would shift it.
---@param buf integer
---@return boolean
function M.is_in_diff(buf)
  return vim.iter(vim.api.nvim_tabpage_list_wins(0)):any(function(win)
    return vim.api.nvim_win_get_buf(win) == buf and vim.wo[win].diff
  end)
end

---@alias eca.VirtualLine eca.Segment[]

--- Wrap segments into virtual lines. One that `needs` more cells than are left begins a new line.
---@param segments eca.Segment[]
---@param cells integer
---@return eca.VirtualLine[]
function M.wrap(segments, cells)
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
function M.shown(text, column, tab)
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

--- A line as segments: the part of it that differs stands out.
---@param line string
---@param part? [integer, integer, integer]
---@param group string
---@param tab integer
---@return eca.Segment[]
local function segments_of(line, part, group, tab)
  local from, to = part and part[2] or #line, part and part[3] or #line
  local segments, column = {}, 0
  for _, piece in ipairs({
    { line:sub(1, from), group },
    { line:sub(from + 1, to), group .. 'Text' },
    { line:sub(to + 1), group },
  }) do
    local text = M.shown(piece[1], column, tab)
    column = column + vim.api.nvim_strwidth(text)
    segments[#segments + 1] = text ~= '' and { text, piece[2] } or nil
  end
  return #segments > 0 and segments or { { ' ', group } }
end

local wrapped, count = {}, 0 ---@type table<string, eca.VirtualLine[]>, integer

--- A line as virtual lines. What is drawn again is mostly what was drawn before: it is kept until
--- `forget` is called.
---@param line string
---@param part? [integer, integer, integer] what differs: its second and third are bytes
---@param group 'EcaDiffAdd'|'EcaDiffDelete'
---@param cells integer
---@param tab integer
---@return eca.VirtualLine[]
function M.of_line(line, part, group, cells, tab)
  local from, to = part and part[2] or 0, part and part[3] or 0
  local key = ('%s %d %d %d %d %s'):format(group, cells, tab, from, to, line)
  if not wrapped[key] then
    if count >= MOST_WRAPPED then
      wrapped, count = {}, 0
    end
    wrapped[key], count = M.wrap(segments_of(line, part, group, tab), cells), count + 1
  end
  return wrapped[key]
end

--- Forget the lines that are kept, as no more of them are drawn for now.
function M.forget()
  wrapped, count = {}, 0
end

return M
