--- Keeps track of where fenced code begins and ends, as text arrives.
---
--- Rules kept here:
--- - A fence belongs to its block, and its rows are counted from the block's first: text is only
---   added at the end of a block, or its whole body is replaced.
--- - A line is read once, when it is complete. Rows before the appended ones are never read again.
--- - Rows are 0-based, ends exclusive.
local blocks = require('eca.transcript.blocks')
local places = require('eca.transcript.places')
local tables = require('eca.markdown.tables')

local M = {}

--- Bytes of a language's name, at most.
local LONGEST_NAME = 40

local BLANK, BACKTICK, BAR, TILDE = (' '):byte(), ('`'):byte(), ('|'):byte(), ('~'):byte()

---@class eca.markdown.Fence
---@field first integer row of the opener, in its block
---@field last? integer row after the last, in its block; nil: it gets more text
---@field mark string backticks or tildes of the opener
---@field language string as the model wrote it, lower case; '' for none
---@field closed? boolean it has a closing line
---@field coloured table<integer, true> pieces of its code for which highlighting was requested
---@field bare? boolean it is the body of a block, with the block's header in place of the opener

--- Parse a line that may open a fence.
---@param line string
---@param row integer in its block
---@return eca.markdown.Fence?
local function opened(line, row)
  local mark, info = line:match('^%s*(```+)([^`]*)$')
  if not mark then
    mark, info = line:match('^%s*(~~~+)(.*)$')
  end
  if mark then
    local language = info:match('^%s*([%w_+#.-]*)'):lower()
    language = #language <= LONGEST_NAME and language or ''
    return { first = row, mark = mark, language = language, coloured = {} }
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

--- Read complete lines.
---@param buf integer
---@param block eca.Block
---@param first integer row of the first line, in the block
---@param lines string[]
---@param count integer how many of them are complete
local function read_lines(buf, block, first, lines, count)
  local known = block.fences or {}
  local fence, next = known[#known], 1 ---@type eca.markdown.Fence?, integer
  fence = fence and not fence.last and fence or nil -- the one around the line
  while next <= count do
    local at, byte = next_sign(lines, next, count)
    local is_row = at and byte == BAR and not fence
    if not is_row or at > next then
      tables.ended(buf, block)
    end
    if not at then
      break
    end
    next = at + 1
    if is_row then
      next = end_of_table(lines, at, count) + 1
      tables.rows_read(block, first + at - 1, next - at)
    elseif not fence then
      fence = opened(lines[at], first + at - 1)
      known[#known + 1] = fence
    elseif byte ~= BAR and closes(lines[at], fence.mark) then
      fence.last, fence.closed, fence = first + at, true, nil
    end
  end
  block.fences = #known > 0 and known or nil
end

--- Called when text was appended to a block of Markdown. Its last row may still grow.
---@param chain eca.Chain
---@param block eca.Block
---@param row integer where it went
---@param lines string[] the first was joined to the text of that row
function M.text_appended(chain, block, row, lines)
  local count = #lines - 1
  if count > 0 then
    lines[1] = vim.api.nvim_buf_get_lines(chain.buf, row, row + 1, true)[1]
    read_lines(chain.buf, block, row - blocks.first_row(chain, block), lines, count)
  end
end

--- Called when the last line of a block of Markdown was read: an open fence ends there.
---@param buf integer
---@param block eca.Block
---@param last integer row after it, in the block
local function ended(buf, block, last)
  tables.ended(buf, block)
  local fence = block.fences and block.fences[#block.fences]
  if fence then
    fence.last = fence.last or last
  end
end

--- Called when a block of Markdown was written with its first text.
---@param buf integer
---@param block eca.Block
---@param lines string[]
function M.text_written(buf, block, lines)
  read_lines(buf, block, 0, lines, block.closed and #lines or #lines - 1)
  if block.closed then
    ended(buf, block, #lines)
  end
end

--- Called when a block of Markdown gets no more text: its last line is complete.
---@param chain eca.Chain
---@param block eca.Block
function M.block_closed(chain, block)
  local row = blocks.last_row(chain, block)
  local line = vim.api.nvim_buf_get_lines(chain.buf, row, row + 1, true)
  local last = row - blocks.first_row(chain, block)
  read_lines(chain.buf, block, last, line, 1)
  ended(chain.buf, block, last + 1)
end

--- Called when the body of a block is replaced. Code is treated as a fence whose opener is the
--- block's header and that has no closing line.
---@param block eca.Block
---@param rows integer of its body
---@param language? string nil: it is not code
function M.body_replaced(block, rows, language)
  block.fences, block.open_table, block.tables = nil, nil, nil
  if language then
    local fence = { first = 0, last = rows + 1, mark = '', language = language, coloured = {} }
    fence.bare = true
    block.fences = { fence }
  end
end

---@class eca.markdown.PlacedFence
---@field first integer row of the opener
---@field last integer row after the closer, or after the text so far
---@field fence eca.markdown.Fence
---@field block eca.Block

--- Where a fence is now; nil if its text is gone.
---@param buf integer
---@param block eca.Block
---@param fence eca.markdown.Fence
---@return eca.markdown.PlacedFence?
function M.place(buf, block, fence)
  local chain = places.chains[buf]
  local row = chain and blocks.first_row(chain, block)
  if row and vim.list_contains(block.fences or {}, fence) then
    local last = fence.last and row + fence.last or blocks.last_row(chain, block) + 1
    return { first = row + fence.first, last = last, fence = fence, block = block }
  end
end

--- The fences that overlap some rows of these blocks, in order.
---@param written eca.WrittenBlock[]
---@param top integer
---@param bottom integer inclusive
---@return eca.markdown.PlacedFence[]
function M.of_blocks(written, top, bottom)
  local found = {} ---@type eca.markdown.PlacedFence[]
  for _, each in ipairs(written) do
    for _, fence in ipairs(each.block.fences or {}) do
      local first = each.first + fence.first
      local last = fence.last and each.first + fence.last or each.last + 1
      if first <= bottom and last > top then
        found[#found + 1] = { first = first, last = last, fence = fence, block = each.block }
      end
    end
  end
  return found
end

--- The fence around a row, if any.
---@param buf integer
---@param row integer
---@return eca.markdown.PlacedFence?
function M.at(buf, row)
  return M.of_blocks(places.written_between(buf, row, row), row, row)[1]
end

return M
