--- Finds where fenced code begins and ends, and where tables are, when their rows are drawn.
---
--- Rules kept here:
--- - What is found belongs to its block, and rows are counted from the block's first: text is only
---   added at the end of a block, or its whole body is replaced.
--- - A line is read once, when it is complete and its block comes on the screen. Text that nobody
---   sees costs nothing.
--- - Rows are 0-based, ends exclusive.
local blocks = require('eca.transcript.blocks')
local places = require('eca.transcript.places')

local M = {}

--- Bytes of a language's name, at most.
local LONGEST_NAME = 40

---@class eca.markdown.Fence
---@field first integer row of the opener, in its block
---@field last? integer row after the last, in its block; nil: it gets more text
---@field mark string backticks or tildes of the opener
---@field language string as the model wrote it, lower case; '' for none
---@field closed? boolean it has a closing line
---@field coloured table<integer, true> pieces of its code for which highlighting was requested
---@field bare? boolean it is the body of a block, with the block's header in place of the opener

---@class eca.markdown.Table
---@field first integer row in its block
---@field rows integer

---@class eca.markdown.Reading what was found in a block
---@field rows integer how many of its rows were read
---@field fences eca.markdown.Fence[]
---@field open_table? eca.markdown.Table whose last row was read last
---@field tables eca.markdown.Table[] complete and not aligned yet

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
  local found = line:match('^%s*(' .. mark:sub(1, 1) .. '+)%s*$')
  return found ~= nil and #found >= #mark
end

---@param reading eca.markdown.Reading
local function end_table(reading)
  local it = reading.open_table
  reading.tables[#reading.tables + 1] = it and it.rows > 1 and it or nil
  reading.open_table = nil
end

--- Read a line that begins with the sign of a fence or of a row of a table.
---@param reading eca.markdown.Reading
---@param line string
---@param row integer
local function read_signed(reading, line, row)
  local fence = reading.fences[#reading.fences]
  local is_code, is_row = fence and not fence.last, line:find('^%s*|')
  if is_row and not is_code then
    reading.open_table = reading.open_table or { first = row, rows = 0 }
    reading.open_table.rows = reading.open_table.rows + 1
    return
  end
  end_table(reading)
  if not is_code then
    reading.fences[#reading.fences + 1] = opened(line, row)
  elseif not is_row and closes(line, fence.mark) then
    fence.last, fence.closed = row + 1, true
  end
end

--- Read the complete lines of a block of Markdown that were not read before: all but the last one,
--- which may still grow, until the block is closed.
---@param buf integer
---@param written eca.WrittenBlock
local function read(buf, written)
  local block = written.block
  local reading = block.reading or { rows = block.headed and 1 or 0, fences = {}, tables = {} }
  block.reading = reading
  local first, last = written.first + reading.rows, written.last + (block.closed and 1 or 0)
  local lines = vim.api.nvim_buf_get_lines(buf, first, math.max(first, last), false)
  for index, line in ipairs(lines) do
    if line:find('^%s*[`~|]') then
      read_signed(reading, line, reading.rows + index - 1)
    elseif reading.open_table then
      end_table(reading)
    end
  end
  reading.rows = reading.rows + #lines
  if block.closed then
    end_table(reading)
    local fence = reading.fences[#reading.fences]
    if fence then
      fence.last = fence.last or reading.rows
    end
  end
end

--- Called when the body of a block is code: treated as a fence whose opener is the block's header
--- and that has no closing line.
---@param block eca.Block
---@param rows integer of its body
---@param language string
function M.body_is_code(block, rows, language)
  local fence = { first = 0, last = rows + 1, mark = '', language = language, coloured = {} }
  fence.bare = true
  block.reading = { rows = rows + 1, fences = { fence }, tables = {} }
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
  -- Extmarks of a chat that was cleared are numbered from 1 again.
  local is_drawn = chain and chain.marks[block.mark] == block
  local row = is_drawn and blocks.first_row(chain, block)
  if row and block.reading and vim.list_contains(block.reading.fences, fence) then
    local last = fence.last and row + fence.last or blocks.last_row(chain, block) + 1
    return { first = row + fence.first, last = last, fence = fence, block = block }
  end
end

--- The fences that overlap some rows of these blocks, in order. What is new in the blocks is read.
---@param buf integer
---@param written eca.WrittenBlock[]
---@param top integer
---@param bottom integer inclusive
---@return eca.markdown.PlacedFence[]
function M.of_blocks(buf, written, top, bottom)
  local found = {} ---@type eca.markdown.PlacedFence[]
  for _, each in ipairs(written) do
    if blocks.PROSE[each.block.kind] then
      read(buf, each)
    end
    for _, fence in ipairs(each.block.reading and each.block.reading.fences or {}) do
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
  return M.of_blocks(buf, places.written_between(buf, row, row), row, row)[1]
end

--- The code of the fence around a row, without the fence's own lines; none without a fence.
---@param buf integer
---@param row integer
---@return string[]?
function M.lines(buf, row)
  local found = M.at(buf, row)
  local last = found and (found.fence.closed and found.last - 1 or found.last)
  return found and vim.api.nvim_buf_get_lines(buf, found.first + 1, last, false)
end

return M
