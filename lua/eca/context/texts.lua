--- The texts that are sent as contexts, and what is read of buffers: the host cannot read these.
---
--- Rules kept here:
--- - At most `MOST_BYTES` are read, whatever a buffer or list has. The end is cut off; of a
---   terminal the beginning, because its last lines matter.
--- - A cut is said twice: to the model in the last line of the text, to the user in a message.
local places = require('eca.context.places')
local scan = require('eca.text.scan')

local M = {}

--- Most bytes of a text: about 60,000 tokens.
M.MOST_BYTES = 256 * 1024

---@class eca.BoundedText
---@field text string
---@field cut? string what is left of it, if it was cut: `the first 3 of 10 lines`

---@class eca.BufferRange
---@field buf integer
---@field first integer[] row and byte column, 0-based
---@field last integer[] row and byte column, 0-based; the column is exclusive

--- The first row for which a condition holds, which then holds for all below.
---@param from integer
---@param to integer
---@param holds fun(row: integer): boolean
---@return integer row `to` if it holds for none
local function first_row(from, to, holds)
  while from < to do
    local middle = math.floor((from + to) / 2)
    if holds(middle) then
      to = middle
    else
      from = middle + 1
    end
  end
  return from
end

--- Part of one line: its first bytes, or its last.
---@param range eca.BufferRange
---@param at_end boolean
---@return eca.BoundedText
local function part_of_line(range, at_end)
  local row, from = range.first[1], range.first[2]
  if at_end then
    row = range.last[1]
    from = math.max(range.last[2] - M.MOST_BYTES, 0)
  end
  local line = vim.api.nvim_buf_get_lines(range.buf, row, row + 1, false)[1]
  local to = math.min(from + M.MOST_BYTES, #line)
  from = at_end and from + vim.str_utf_end(line, from + 1) or from
  to = to < #line and to + vim.str_utf_start(line, to + 1) or to
  local which = at_end and 'last' or 'first'
  local cut = ('the %s %d bytes of line %d'):format(which, to - from, row + 1)
  return { text = line:sub(from + 1, to), cut = cut }
end

---@param range eca.BufferRange
---@param first integer[]
---@param last integer[]
---@return string
local function text_of(range, first, last)
  local lines = vim.api.nvim_buf_get_text(range.buf, first[1], first[2], last[1], last[2], {})
  return table.concat(lines, '\n')
end

--- The text of a part of a loaded buffer.
---@param range eca.BufferRange
---@param at_end? boolean keep its end if it is too long
---@return eca.BoundedText
function M.of_buffer(range, at_end)
  local function offset(row)
    return vim.api.nvim_buf_get_offset(range.buf, row)
  end
  local first, last = range.first, range.last
  local start, stop = offset(first[1]) + first[2], offset(last[1]) + last[2]
  if stop - start <= M.MOST_BYTES then
    return { text = text_of(range, first, last) }
  end
  local total = last[1] - first[1] + 1
  if at_end then
    local row = first_row(first[1], last[1] + 1, function(row)
      return stop - offset(row) <= M.MOST_BYTES
    end)
    if row > last[1] then
      return part_of_line(range, true)
    end
    local cut = ('the last %d of %d lines'):format(last[1] - row + 1, total)
    return { text = text_of(range, { row, 0 }, last), cut = cut }
  end
  local row = first_row(first[1], last[1] + 1, function(row)
    return offset(row + 1) - start > M.MOST_BYTES
  end)
  if row == first[1] then
    return part_of_line(range, false)
  end
  local line = vim.api.nvim_buf_get_lines(range.buf, row - 1, row, false)[1]
  local cut = ('the first %d of %d lines'):format(row - first[1], total)
  return { text = text_of(range, first, { row - 1, #line }), cut = cut }
end

--- The text of the first items of a list.
---@param total integer items of the list
---@param line_of fun(index: integer): string the line of an item; called until it is enough
---@return eca.BoundedText
function M.of_list(total, line_of)
  local lines, bytes = {}, 0 ---@type string[], integer
  for index = 1, total do
    local line = line_of(index)
    bytes = bytes + #line + 1
    if bytes > M.MOST_BYTES then
      local cut = ('the first %d of %d'):format(#lines, total)
      return { text = table.concat(lines, '\n'), cut = cut }
    end
    lines[index] = line
  end
  return { text = table.concat(lines, '\n') }
end

--- What is read for a context.
---@class eca.ReadText
---@field label string
---@field content string
---@field cut? string what is sent of it, if it was cut

--- Describe a context: of a buffer the number of its lines, if it is loaded.
---@param item eca.Context
---@return eca.Context
function M.described(item)
  if item.type ~= 'buffer' then
    return item
  end
  local worked, is_loaded = pcall(vim.api.nvim_buf_is_loaded, item.buf)
  local count = worked and is_loaded and vim.api.nvim_buf_line_count(item.buf) or nil
  return vim.tbl_extend('force', item, { count = count })
end

--- First and last line of the context, in order and within the buffer.
---@param item eca.Context
---@return integer first, integer last
local function lines_of(item)
  local first, last = tonumber(item.first) or 1, tonumber(item.last) or item.count
  local function within(line)
    return math.floor(math.max(1, math.min(line, item.count)))
  end
  return within(math.min(first, last)), within(math.max(first, last))
end

--- The name of a buffer: that of a terminal is its command.
---@param buf integer
---@return string
function M.name(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  return name ~= '' and name or ('buffer %d'):format(buf)
end

--- Read the text that a buffer has now; of a long terminal its end.
---@param item eca.Context
---@return eca.ReadText? read
---@return string? fault why there is nothing to send, in one line
function M.read(item)
  local found = M.described(item)
  if not found.count then
    return nil, ('there is no buffer %s'):format(tostring(item.buf))
  end
  local first, last = lines_of(found)
  local line = vim.api.nvim_buf_get_lines(found.buf, last - 1, last, false)[1] or ''
  local range = { buf = found.buf, first = { first - 1, 0 }, last = { last - 1, #line } }
  local is_terminal = vim.bo[found.buf].buftype == 'terminal'
  local read = M.of_buffer(range, is_terminal)
  local text = is_terminal and scan.without_end(read.text, '%s') or read.text
  return { label = M.name(found.buf), content = text, cut = read.cut }
end

--- Most lines of the terminal that was used last.
M.TAIL = 200

--- The terminal that was used last; those of ours do not count.
---@return integer? buf
function M.last_terminal()
  local last, used ---@type integer?, integer?
  for _, info in ipairs(vim.fn.getbufinfo({ bufloaded = 1 })) do
    local options = vim.bo[info.bufnr]
    local is_theirs = options.buftype == 'terminal' and not options.filetype:find('^eca%-')
    if is_theirs and (not used or info.lastused >= used) then
      last, used = info.bufnr, info.lastused
    end
  end
  return last
end

--- The last lines of a terminal, without the blank ones below its text.
---@param buf integer
---@param most integer
---@return integer first, integer last 1-based
function M.tail(buf, most)
  local last = vim.api.nvim_buf_line_count(buf)
  while last > 1 and not vim.api.nvim_buf_get_lines(buf, last - 1, last, false)[1]:find('%S') do
    last = last - 1
  end
  return math.max(1, last - most + 1), last
end

--- Read the end of the terminal that was used last.
---@return eca.ReadText? read
---@return string? fault why there is nothing to send, in one line
function M.terminal()
  local buf = M.last_terminal()
  if not buf then
    return nil, 'there is no terminal: :terminal opens one'
  end
  local first, last = M.tail(buf, M.TAIL)
  return M.read({ type = 'buffer', buf = buf, first = first, last = last })
end

--- Read what is selected in the last code window, or was when the user left it.
---@return eca.ReadText? read
---@return string? fault why there is nothing to send, in one line
function M.selection()
  local found = places.selection()
  if not found then
    return nil, 'nothing is selected in the last code window'
  end
  local first, last = found.first, found.last
  local read = M.of_buffer({
    buf = found.buf,
    first = { first[1] - 1, first[2] },
    last = { last[1] - 1, last[2] },
  })
  local label = ('%s:%d-%d'):format(M.name(found.buf), first[1], last[1])
  return { label = 'selection in ' .. label, content = read.text, cut = read.cut }
end

return M
