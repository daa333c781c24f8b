--- Writes new blocks into the buffer together.
---
--- Rules kept here:
--- - Consecutive blocks are written by one edit, however many there are.
--- - The edit comes first: if it fails, nothing here has changed.
--- - Rows are 0-based, last rows inclusive.
local blocks = require('eca.transcript.blocks')
local decoration = require('eca.transcript.decoration')

local M = {}

---@class eca.Opening a block to add: the fields of the op `open`
---@field chat string
---@field block integer
---@field kind string
---@field header? eca.Segment[] nil: the block has no header
---@field depth? integer default: 0
---@field after? integer the block before it, whose nested blocks come first; nil: the last
---@field lost? eca.Segment[] its header if the host exits before the block is complete
---@field text? string the beginning of its body
---@field closed? boolean it gets no more text

---@class eca.NewBlock
---@field block eca.Block
---@field opening eca.Opening
---@field lines string[]? its text, from its first row on
---@field offset integer of its first row in all rows written

---@param chain eca.Chain
---@param opening eca.Opening
---@param anchor? eca.Block the block of `opening.after`
---@param previous? eca.Block
---@return eca.Block
local function make(chain, opening, anchor, previous)
  local block = { id = opening.block, chat = chain.chat, kind = opening.kind }
  block.depth, block.lost = opening.depth or 0, opening.lost
  block.headed = opening.header ~= nil and #opening.header > 0
  block.empty, block.held, block.closed = true, 0, opening.closed == true
  block.page = anchor and (anchor.kind == 'older' and chain.page or anchor.page)
  block.margin = blocks.margin(previous, block)
  return block
end

--- Append the rows of a block to those to write.
---@param rows string[]
---@param block eca.Block
---@param opening eca.Opening
---@return eca.NewBlock
local function add_rows(rows, block, opening)
  if block.margin > 0 then
    rows[#rows + 1] = ''
  end
  local offset = #rows
  local lines, held = blocks.take_lines(block, opening.text or '')
  rows[offset + 1] = block.headed and decoration.header_text(opening.header) or ''
  if lines then
    lines[1] = block.headed and rows[offset + 1] or lines[1]
    for index, line in ipairs(lines) do
      rows[offset + index] = line
    end
  end
  block.empty, block.held = not lines, held
  return { block = block, opening = opening, lines = lines, offset = offset }
end

--- Write the rows of new blocks.
---@param chain eca.Chain
---@param previous? eca.Block
---@param rows string[]
---@return integer row of the first of them
local function insert_rows(chain, previous, rows)
  if not previous then
    vim.api.nvim_buf_set_lines(chain.buf, 0, -1, false, rows)
    return 0
  elseif not previous.next then
    local first = vim.api.nvim_buf_line_count(chain.buf)
    vim.api.nvim_buf_set_lines(chain.buf, -1, -1, false, rows)
    return first
  end
  local row = blocks.last_row(chain, previous)
  table.insert(rows, 1, '')
  vim.api.nvim_buf_set_text(chain.buf, row, -1, row, -1, rows)
  return row + 1
end

--- Colour a block whose rows are written.
---@param chain eca.Chain
---@param new eca.NewBlock
---@param row integer
local function decorate(chain, new, row)
  local buf, block, lines = chain.buf, new.block, new.lines
  if block.headed then
    decoration.header(buf, row, new.opening.header)
  end
  if lines and block.kind == 'user' then
    decoration.user(buf, row, row + #lines - 1)
  end
end

--- Add blocks to a chain, each after the one before.
---@param chain eca.Chain
---@param openings eca.Opening[]
function M.write(chain, openings)
  local after = openings[1].after
  local anchor = after and chain.blocks[after]
  local previous = anchor and blocks.last_nested(anchor) or chain.last
  local rows, new = {}, {} ---@type string[], eca.NewBlock[]
  local last = previous
  for index, opening in ipairs(openings) do
    local block = make(chain, opening, anchor, last)
    new[index] = add_rows(rows, block, opening)
    last = block
  end
  local first = insert_rows(chain, previous, rows)
  for _, each in ipairs(new) do
    blocks.link(chain, each.block, previous, first + each.offset)
    decorate(chain, each, first + each.offset)
    previous = each.block
  end
end

return M
