--- Keeps track of where the blocks of a chat are: a linked list, each block with an extmark on its
--- first row; and splits their text into lines, without blank rows at either end of a block.
---
--- Rules kept here:
--- - The host assigns the ids. A new host counts from the beginning: its blocks take over the ids,
---   and the text of the old blocks stays, but ops cannot name them any more.
--- - Positions are extmarks and are looked up when needed; no row is ever stored.
--- - A block ends where the margin of the next begins; the last one ends at the end of the buffer.
--- - Marks have left gravity, and rows are added only after the end of a row before them, so that a
---   mark never leaves its row.
--- - Line breaks at the end of a block's text are held back until more text follows. Text is never
---   joined with what is in the buffer, so the cost depends only on the new text.
--- - Rows are 0-based, last rows inclusive.
local M = {}

M.namespace = vim.api.nvim_create_namespace('eca.blocks')

--- Most blocks begin within this many rows before any of their rows.
local NEAR = 16

--- Kinds whose text is Markdown.
M.PROSE = { assistant = true, reasoning = true, system = true }

---@class eca.Block
---@field id integer the host's
---@field mark integer extmark
---@field chat string
---@field kind string
---@field depth integer
---@field headed boolean has a header row
---@field empty boolean its body has no row
---@field held integer line breaks at the end of its text that are not in the buffer yet
---@field margin integer blank rows before it
---@field closed boolean
---@field lost? eca.Segment[] its header if the host exits before the block is complete
---@field page? integer the page of older messages that it belongs to
---@field reading? eca.markdown.Reading what its drawn rows have been found to be
---@field previous? eca.Block
---@field next? eca.Block

---@class eca.Chain
---@field buf integer
---@field chat string
---@field blocks table<integer, eca.Block> by id
---@field marks table<integer, eca.Block> by extmark
---@field first? eca.Block
---@field last? eca.Block
---@field page integer the page of older messages that is drawn now or next
---@field lost? boolean its text is lost and not redrawn yet

--- Create a chain without blocks.
---@param buf integer
---@param chat string
---@return eca.Chain
function M.new(buf, chat)
  return { buf = buf, chat = chat, blocks = {}, marks = {}, page = 1 }
end

--- Do ops with this id mean this block?
---@param chain eca.Chain
---@param block eca.Block
---@return boolean
function M.is_current(chain, block)
  return chain.blocks[block.id] == block
end

--- The first row of a block: its header, or the first row of its text. Nil only for a block that
--- was removed.
---@param chain eca.Chain
---@param block eca.Block
---@return integer
function M.first_row(chain, block)
  return vim.api.nvim_buf_get_extmark_by_id(chain.buf, M.namespace, block.mark, {})[1]
end

--- The last row of a block.
---@param chain eca.Chain
---@param block eca.Block
---@return integer
function M.last_row(chain, block)
  local following = block.next
  if following then
    return M.first_row(chain, following) - following.margin - 1
  end
  return vim.api.nvim_buf_line_count(chain.buf) - 1
end

--- The last block that begins at a row or before it. Neovim collects all marks of a range that is
--- read backwards, so the range is small at first, then wider. The last block is checked first,
--- because it is mostly the one on the screen and may be long.
---@param chain eca.Chain
---@param row integer
---@return eca.Block? block, integer? first_row
function M.before(chain, row)
  local last_first = chain.last and M.first_row(chain, chain.last)
  if last_first and last_first <= row then
    return chain.last, last_first
  end
  local reach = NEAR
  repeat
    local top = math.max(0, row - reach)
    local mark = vim.api.nvim_buf_get_extmarks(
      chain.buf,
      M.namespace,
      { row, -1 },
      { top, 0 },
      { limit = 1 }
    )[1]
    if mark then
      return chain.marks[mark[1]], mark[2]
    end
    reach = reach * 8
  until top == 0
end

--- The last block nested in a block, or the block itself.
---@param block eca.Block
---@return eca.Block
function M.last_nested(block)
  local last = block
  while last.next and last.next.depth > block.depth do
    last = last.next
  end
  return last
end

--- Insert a block into the chain, with a mark on its first row.
---@param chain eca.Chain
---@param block eca.Block
---@param previous? eca.Block nil: it becomes the first
---@param row integer
function M.link(chain, block, previous, row)
  local options = { right_gravity = false }
  block.mark = vim.api.nvim_buf_set_extmark(chain.buf, M.namespace, row, 0, options)
  chain.marks[block.mark] = block
  local following = chain.first
  if previous then
    following = previous.next
    previous.next = block
  else
    chain.first = block
  end
  block.previous, block.next = previous, following
  if following then
    following.previous = block
  else
    chain.last = block
  end
  chain.blocks[block.id] = block
end

--- Remove a block from the chain.
---@param chain eca.Chain
---@param block eca.Block
function M.unlink(chain, block)
  local previous, following = block.previous, block.next
  if previous then
    previous.next = following
  else
    chain.first = following
  end
  if following then
    following.previous = previous
  else
    chain.last = previous
  end
  chain.blocks[block.id] = nil
  chain.marks[block.mark] = nil
  vim.api.nvim_buf_del_extmark(chain.buf, M.namespace, block.mark)
end

--- Kinds that are mostly one line, and have no blank rows between them.
local COMPACT = {
  flag = true,
  hook = true,
  image = true,
  link = true,
  note = true,
  reasoning = true,
  system = true,
  tool = true,
}

--- The number of blank rows between two neighbours.
---@param previous? eca.Block
---@param block eca.Block
---@return integer
function M.margin(previous, block)
  local is_close = block.kind == 'attempts' -- it belongs to the prompt above it
  if not previous or block.depth > 0 or is_close then
    return 0
  end
  return COMPACT[previous.kind] and COMPACT[block.kind] and 0 or 1
end

local BREAK = 10

--- Split a part of a text at its line breaks. The part is not copied before.
---@param text string
---@param first integer byte
---@param last integer byte, inclusive
---@param breaks integer line breaks to put before it
---@return string[] at least one
local function lines_of(text, first, last, breaks)
  local lines, count, from = {}, 0, first
  while count < breaks do
    count = count + 1
    lines[count] = ''
  end
  while true do
    local at = text:find('\n', from, true)
    count = count + 1
    if not at or at > last then
      lines[count] = text:sub(from, last)
      return lines
    end
    lines[count] = text:sub(from, at - 1)
    from = at + 1
  end
end

--- The lines to write when text is appended to a block; nil if there is nothing to write yet.
---@param block eca.Block
---@param text string
---@return string[]? lines the first continues the block's last row
---@return integer held number of line breaks to hold back
function M.take_lines(block, text)
  local length = #text -- without the line breaks at its end
  while length > 0 and text:byte(length) == BREAK do
    length = length - 1
  end
  local breaks = #text - length
  if block.empty then
    local start = text:find('[^\n]')
    if not start then
      return nil, 0
    end
    return lines_of(text, start, length, block.headed and 1 or 0), breaks
  end
  if length == 0 then
    return nil, block.held + breaks
  end
  return lines_of(text, 1, length, block.held), breaks
end

return M
