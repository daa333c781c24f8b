--- Finds blocks in a transcript.
---
--- Rules kept here: nothing is changed; rows are 0-based, last rows inclusive.
local blocks = require('eca.transcript.blocks')

local M = {}

M.chains = {} ---@type table<integer, eca.Chain> by buffer

--- Is a buffer a transcript?
---@param buf integer
---@return boolean
function M.is_transcript(buf)
  return M.chains[buf] ~= nil
end

---@class eca.BlockPlace
---@field id integer
---@field kind string
---@field chat string
---@field header? integer row of the header, if it has one
---@field first integer first row
---@field last integer last row

--- The block at a row, also one of a host that has exited; nil on blank rows between blocks.
---@param buf integer
---@param row integer
---@return eca.Block?
---@return integer? first its first row
function M.drawn_at(buf, row)
  local chain = M.chains[buf]
  local block, first = nil, nil
  if chain then
    block, first = blocks.before(chain, row)
  end
  if block and row <= blocks.last_row(chain, block) then
    return block, first
  end
end

---@param chain eca.Chain
---@param block eca.Block
---@param first integer
---@return eca.BlockPlace
local function place_of(chain, block, first)
  return {
    id = block.id,
    kind = block.kind,
    chat = block.chat,
    header = block.headed and first or nil,
    first = first,
    last = blocks.last_row(chain, block),
  }
end

--- The block at a row that ops can name; nil on blank rows between blocks.
---@param buf integer
---@param row integer
---@return eca.BlockPlace?
function M.block_at(buf, row)
  local chain, block, first = M.chains[buf], M.drawn_at(buf, row)
  return block and blocks.is_current(chain, block) and place_of(chain, block, first) or nil
end

--- The rows of a block.
---@param buf integer
---@param id integer
---@return integer? first, integer? last
function M.range(buf, id)
  local chain = M.chains[buf]
  local block = chain and chain.blocks[id]
  if block then
    return blocks.first_row(chain, block), blocks.last_row(chain, block)
  end
end

--- The blocks that are in progress, in order, with the headers they get if the host exits.
---@param buf integer
---@return { id: integer, header: eca.Segment[] }[]
function M.unfinished(buf)
  local chain = M.chains[buf]
  local block = chain and chain.first
  local found = {} ---@type { id: integer, header: eca.Segment[] }[]
  while block do
    if block.lost and blocks.is_current(chain, block) then
      found[#found + 1] = { id = block.id, header = block.lost }
    end
    block = block.next
  end
  return found
end

---@class eca.WrittenBlock
---@field block eca.Block
---@field first integer row
---@field last integer

--- The blocks that overlap some rows and have a body, in order; none if it is no transcript.
---@param buf integer
---@param top integer
---@param bottom integer
---@return eca.WrittenBlock[]
function M.written_between(buf, top, bottom)
  local chain = M.chains[buf]
  if not chain then
    return {}
  end
  local block, first = blocks.before(chain, top)
  block = block or chain.first
  local found = {} ---@type eca.WrittenBlock[]
  while block do
    first = first or blocks.first_row(chain, block)
    if first > bottom then
      break
    end
    if not block.empty then
      found[#found + 1] = { block = block, first = first, last = blocks.last_row(chain, block) }
    end
    block, first = block.next, nil
  end
  return found
end

--- The first row of the next or previous block of a kind.
---@param buf integer
---@param row integer
---@param kind string
---@param direction 1|-1
---@return integer?
function M.find(buf, row, kind, direction)
  local chain = M.chains[buf]
  local from = direction > 0 and row or row - 1
  local block = from >= 0 and blocks.before(chain, from) or nil -- -1 would mean the last row
  if direction > 0 then
    block = block and block.next or (not block and chain.first or nil)
  end
  while block and block.kind ~= kind do
    block = block[direction > 0 and 'next' or 'previous']
  end
  return block and blocks.first_row(chain, block)
end

return M
