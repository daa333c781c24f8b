--- Keeps track of where fenced code begins and ends, as text arrives.
---
--- Rules kept here:
--- - Each fence is one ranged extmark, opener and closer included, so that it moves with the text.
---   The end of an open fence has right gravity, so that it grows with text appended there. A
---   finished one ends at the end of its last row, so that rows added after it are not part of it.
--- - A line is read once, when it is complete. Rows before the appended ones are never read again.
--- - Rows are 0-based, ends exclusive.
local tables = require('eca.markdown.tables')
local unbroken = require('eca.markdown.unbroken')

local M = {}

M.namespace = vim.api.nvim_create_namespace('eca.fences')

--- Bytes of a language's name, at most.
local LONGEST_NAME = 40

local BLANK, BACKTICK, BAR, TILDE = (' '):byte(), ('`'):byte(), ('|'):byte(), ('~'):byte()

---@class eca.markdown.Fence
---@field language string as the model wrote it, lower case; '' for none
---@field closed boolean it has a closing line
---@field finished boolean it gets no more text
---@field coloured table<integer, true> pieces of its code for which highlighting was requested
---@field bare? boolean it is the body of a block, with the block's header in place of the opener

---@class eca.markdown.OpenFence
---@field id? integer extmark; nil until all rows appended together are read
---@field first integer row of the opener
---@field mark string backticks or tildes of the opener
---@field language string

---@class eca.markdown.Buffer
---@field fences table<integer, eca.markdown.Fence> by extmark id
---@field open table<integer, eca.markdown.OpenFence> by block id
---@field bodies table<integer, integer> extmarks by block id, of blocks that are only code

local buffers = {} ---@type table<integer, eca.markdown.Buffer>

---@param buf integer
---@return eca.markdown.Buffer
local function state_of(buf)
  local state = buffers[buf]
  if not state then
    state = { fences = {}, open = {}, bodies = {} }
    buffers[buf] = state
    vim.api.nvim_create_autocmd('BufWipeout', {
      buffer = buf,
      once = true,
      callback = function()
        buffers[buf] = nil
        tables.forget(buf)
        unbroken.forget(buf)
      end,
    })
  end
  return state
end

--- Set a fence's extmark over its rows.
---@param buf integer
---@param first integer
---@param last integer inclusive
---@param line string text of the last row
---@param grows boolean
---@param id? integer
---@return integer id
local function place_mark(buf, first, last, line, grows, id)
  return vim.api.nvim_buf_set_extmark(buf, M.namespace, first, 0, {
    id = id,
    end_row = last,
    end_col = #line,
    end_right_gravity = grows,
    invalidate = true,
    undo_restore = false,
  })
end

--- Create or move the extmark of a fence.
---@param buf integer
---@param state eca.markdown.Buffer
---@param fence eca.markdown.OpenFence
---@param last integer its last row, or the block's last row so far
---@param line string of that row
---@param grows boolean
local function put(buf, state, fence, last, line, grows)
  local known = fence.id and state.fences[fence.id]
  fence.id = place_mark(buf, fence.first, last, line, grows, fence.id)
  state.fences[fence.id] = known
    or { language = fence.language, closed = false, finished = false, coloured = {} }
end

---@param buf integer
---@param state eca.markdown.Buffer
---@param fence eca.markdown.OpenFence
---@param last integer its last row
---@param line string of that row
---@param closed boolean that row is a closing line
local function finish(buf, state, fence, last, line, closed)
  put(buf, state, fence, last, line, false)
  state.fences[fence.id].finished = true
  state.fences[fence.id].closed = closed
end

--- Parse a line that may open a fence.
---@param line string
---@param row integer
---@return eca.markdown.OpenFence?
local function opened(line, row)
  local mark, info = line:match('^%s*(```+)([^`]*)$')
  if not mark then
    mark, info = line:match('^%s*(~~~+)(.*)$')
  end
  if mark then
    local language = info:match('^%s*([%w_+#.-]*)'):lower()
    return { first = row, mark = mark, language = #language <= LONGEST_NAME and language or '' }
  end
end

---@param line string
---@param mark string
---@return boolean
local function closes(line, mark)
  if line == mark then
    return true
  end
  local found = line:match('^%s*(' .. mark:sub(1, 1) .. '+)%s*$')
  return found ~= nil and #found >= #mark
end

--- Was all text of an extmark deleted? Neovim 0.10 keeps such a mark with an empty range.
---@param row integer
---@param column integer
---@param details vim.api.keyset.extmark_details
---@return boolean
local function is_empty(row, column, details)
  return details.end_row < row or (details.end_row == row and details.end_col <= column)
end

--- The rows of one of our extmarks; nil if its text was deleted.
---@param buf integer
---@param id integer
---@return integer? first, integer? last inclusive
local function rows_of(buf, id)
  local mark = vim.api.nvim_buf_get_extmark_by_id(buf, M.namespace, id, { details = true })
  if mark[1] and not is_empty(mark[1], mark[2], mark[3]) then
    return mark[1], mark[3].end_row
  end
end

--- The open fence of a block. It is forgotten if its text was deleted.
---@param buf integer
---@param state eca.markdown.Buffer
---@param block integer
---@return eca.markdown.OpenFence?
local function open_fence(buf, state, block)
  local fence = state.open[block]
  if not fence then
    return nil
  end
  local first = rows_of(buf, fence.id)
  if not first then
    state.open[block], state.fences[fence.id] = nil, nil
    return nil
  end
  fence.first = first
  return fence
end

---@param buf integer
---@param state eca.markdown.Buffer
---@param fence? eca.markdown.OpenFence the fence around the line
---@param row integer
---@param line string
---@return eca.markdown.OpenFence? fence the fence around the next line
local function read_line(buf, state, fence, row, line)
  if not fence then
    return opened(line, row)
  elseif closes(line, fence.mark) then
    finish(buf, state, fence, row, line, true)
    return nil
  end
  return fence
end

--- The next line that may open or close a fence, or be a row of a table. The first non-blank byte
--- of a line decides. Only bytes are compared, so that LuaJIT compiles the loop.
---@param lines string[]
---@param from integer
---@param count integer how many of them are complete
---@return integer? place nil: there is none
---@return integer? byte
local function next_sign(lines, from, count)
  for index = from, count do
    local line = lines[index]
    local column, byte = 1, line:byte(1)
    while byte and byte <= BLANK do
      column = column + 1
      byte = line:byte(column)
    end
    if byte == BAR or byte == BACKTICK or byte == TILDE then
      return index, byte
    end
  end
end

--- The last of consecutive table rows.
---@param lines string[]
---@param from integer
---@param count integer
---@return integer
local function end_of_table(lines, from, count)
  local last = from
  while last < count do
    local index, byte = next_sign(lines, last + 1, last + 1)
    if not index or byte ~= BAR then
      break
    end
    last = index
  end
  return last
end

--- Read complete lines. A fence that begins and ends among them gets its extmark only once, because
--- setting and moving one over many rows is slow.
---@param buf integer
---@param block integer
---@param first integer row of the first line
---@param lines string[]
---@param count integer how many of them are complete
local function read_lines(buf, block, first, lines, count)
  local state = state_of(buf)
  local fence, next = open_fence(buf, state, block), 1
  while next <= count do
    local at, byte = next_sign(lines, next, count)
    local is_row = at and byte == BAR and not fence
    if not is_row or at > next then
      tables.ended(buf, block)
    end
    if not at then
      break
    elseif is_row then
      next = end_of_table(lines, at, count) + 1
      tables.rows_read(buf, block, first + at - 1, next - at)
    else
      fence = byte == BAR and fence or read_line(buf, state, fence, first + at - 1, lines[at])
      next = at + 1
    end
  end
  if fence and not fence.id then
    put(buf, state, fence, first + #lines - 1, lines[#lines], true)
  end
  state.open[block] = fence
end

---@param buf integer
---@param row integer
---@return string
local function line_at(buf, row)
  return vim.api.nvim_buf_get_lines(buf, row, row + 1, true)[1]
end

--- Called when text was appended to a block of Markdown. Its last row may still grow.
---@param buf integer
---@param block integer
---@param row integer where it went
---@param lines string[] the first was joined to the text of that row
function M.text_appended(buf, block, row, lines)
  local count = #lines - 1
  if count > 0 then
    lines[1] = line_at(buf, row)
    read_lines(buf, block, row, lines, count)
  end
end

--- Called when the last line of a block of Markdown was read: an open fence ends there.
---@param buf integer
---@param block integer
---@param row integer
---@param line string
local function ended(buf, block, row, line)
  tables.ended(buf, block)
  local state = state_of(buf)
  local fence = open_fence(buf, state, block)
  if fence then
    finish(buf, state, fence, row, line, false)
    state.open[block] = nil
  end
end

--- Called when a block of Markdown was written with its first text.
---@param buf integer
---@param block integer
---@param row integer its first one
---@param lines string[]
---@param closed boolean it gets no more text
function M.text_written(buf, block, row, lines, closed)
  read_lines(buf, block, row, lines, closed and #lines or #lines - 1)
  if closed then
    ended(buf, block, row + #lines - 1, lines[#lines])
  end
end

--- Called when a block of Markdown gets no more text: its last line is complete.
---@param buf integer
---@param block integer
---@param last_row integer the block's last row
function M.block_closed(buf, block, last_row)
  local line = line_at(buf, last_row)
  read_lines(buf, block, last_row, { line }, 1)
  ended(buf, block, last_row, line)
end

--- Called when the body of a block was written. Code is treated as a fence whose opener is the
--- block's header and that has no closing line.
---@param buf integer
---@param block integer
---@param header integer row
---@param last integer last row of the body
---@param language? string nil: it is not code
function M.body_written(buf, block, header, last, language)
  local state = state_of(buf)
  local before = state.bodies[block]
  if before then
    vim.api.nvim_buf_del_extmark(buf, M.namespace, before)
    state.fences[before], state.bodies[block] = nil, nil
  end
  if language then
    local id = place_mark(buf, header, last, line_at(buf, last), false)
    local fence = { language = language, closed = false, finished = true, coloured = {} }
    fence.bare = true
    state.fences[id], state.bodies[block] = fence, id
  end
end

---@class eca.markdown.PlacedFence
---@field id integer
---@field first integer row of the opener
---@field last integer row after the closer, or after the text so far
---@field fence eca.markdown.Fence

--- Where a fence is now; nil if its text is gone.
---@param buf integer
---@param id integer
---@return eca.markdown.PlacedFence?
function M.place(buf, id)
  local state = buffers[buf]
  local fence = state and state.fences[id]
  if not fence then
    return nil
  end
  local first, last = rows_of(buf, id)
  return first and { id = id, first = first, last = last + 1, fence = fence }
end

--- The fences that overlap some rows, in order.
---@param buf integer
---@param first_row integer
---@param last_row integer inclusive
---@return eca.markdown.PlacedFence[]
function M.between(buf, first_row, last_row)
  local state = buffers[buf]
  if not state then
    return {}
  end
  local places = {} ---@type eca.markdown.PlacedFence[]
  local marks = vim.api.nvim_buf_get_extmarks(
    buf,
    M.namespace,
    { first_row, 0 },
    { last_row, -1 },
    { overlap = true, details = true }
  )
  for _, mark in ipairs(marks) do
    local fence = state.fences[mark[1]]
    if fence and not is_empty(mark[2], mark[3], mark[4]) then
      local last = mark[4].end_row + 1
      places[#places + 1] = { id = mark[1], first = mark[2], last = last, fence = fence }
    end
  end
  return places
end

--- The fence around a row, if any.
---@param buf integer
---@param row integer
---@return eca.markdown.PlacedFence?
function M.at(buf, row)
  for _, place in ipairs(M.between(buf, row, row)) do
    if place.first <= row and row < place.last then
      return place
    end
  end
  return nil
end

return M
