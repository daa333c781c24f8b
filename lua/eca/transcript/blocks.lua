--- Where the blocks of a chat are: a chain of them, each with an extmark on its first row.
---
--- Rules kept here:
--- - Ids are the host's. One that starts anew begins to count anew: its blocks take over the ids,
---   the text of the old ones stays, as blocks that nobody can name any more.
--- - Positions are extmarks, asked for when needed; no row is ever remembered.
--- - A block ends where the margin of the next begins, the last one at the end of the buffer.
--- - Marks have left gravity and rows are only ever added after the end of a row before them, so
---   that a mark never leaves the row it was put on.
--- - Rows are 0-based, last rows inclusive.
local M = {}

M.namespace = vim.api.nvim_create_namespace('eca.blocks')

--- Rows before a row in which the block that it is in mostly begins.
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
---@field lost? eca.Segment[] its header when the host ends before it does
---@field page? integer of older messages that it came with
---@field previous? eca.Block
---@field next? eca.Block

---@class eca.Chain
---@field buf integer
---@field chat string
---@field blocks table<integer, eca.Block> by id
---@field marks table<integer, eca.Block> by extmark
---@field first? eca.Block
---@field last? eca.Block
---@field page integer of older messages that is being drawn, or is the next
---@field lost? boolean waits to be drawn anew

--- A chain without blocks.
---@param buf integer
---@param chat string
---@return eca.Chain
function M.new(buf, chat)
  return { buf = buf, chat = chat, blocks = {}, marks = {}, page = 1 }
end

--- Put a new block's mark on a row.
---@param chain eca.Chain
---@param block eca.Block
---@param row integer
function M.place(chain, block, row)
  local options = { right_gravity = false }
  block.mark = vim.api.nvim_buf_set_extmark(chain.buf, M.namespace, row, 0, options)
  chain.marks[block.mark] = block
end

--- Can the host name this block?
---@param chain eca.Chain
---@param block eca.Block
---@return boolean
function M.is_current(chain, block)
  return chain.blocks[block.id] == block
end

--- The first row of a block: its header, or the first row of its text.
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

--- The block that begins at a row or is the last to begin before it. Neovim takes all marks of a
--- range that it reads backwards: the range is near the row first, then wider. The last block may
--- be long and is mostly the one on the screen: it is looked at first.
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

--- The last block nested in one, or the block itself.
---@param block eca.Block
---@return eca.Block
function M.last_nested(block)
  local last = block
  while last.next and last.next.depth > block.depth do
    last = last.next
  end
  return last
end

--- Put a block into the chain.
---@param chain eca.Chain
---@param block eca.Block
---@param previous? eca.Block nil: it becomes the first
function M.link(chain, block, previous)
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

--- Take a block out of the chain.
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

--- Kinds that are one line mostly and stand close together.
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

--- How many blank rows stand between two neighbours.
---@param previous? eca.Block
---@param block eca.Block
---@return integer
function M.margin(previous, block)
  if not previous or block.depth > 0 or (COMPACT[previous.kind] and COMPACT[block.kind]) then
    return 0
  end
  return 1
end

return M
