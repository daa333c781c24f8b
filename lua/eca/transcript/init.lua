--- Writes the blocks of a chat into its buffer.
---
--- Rules kept here:
--- - The buffer is never read to find out what is in it, and never rewritten. The size of each edit
---   depends on its op and not on the length of the chat.
--- - If an edit fails (the text is locked), the error is raised before anything here has changed,
---   so that the same op can be drawn again.
--- - Rows are 0-based, last rows inclusive.
local blocks = require('eca.transcript.blocks')
local decoration = require('eca.transcript.decoration')
local fences = require('eca.markdown.fences')
local places = require('eca.transcript.places')
require('eca.markdown') -- highlights the rows being drawn

local M = {}

local chains = places.chains

--- Wrapped rows are indented under the text after a number or a sign, as in lists and headers, or
--- after the bars of a quotation.
local HANGING = [[^\s*\%(>[> ]*\|\%(\d\+[.)]\|[^[:alnum:][:space:]#|>]\)\s\+\)]]
if vim.fn.has('nvim-0.11') == 0 then
  -- 0.10 counts the bytes of a match: those after a sign of several bytes are as many as its cells.
  HANGING = [[^[^\d0-\d127]\zs\s[ -~]\|]] .. HANGING
end

--- Languages of bodies that are highlighted like fenced code; bodies in others come with marks.
local CODE = { json = true }

--- Set up a buffer as a transcript.
---@param buf integer
---@param chat string
---@param lost? boolean its text is lost: nothing is drawn until the host clears and redraws it
function M.attach(buf, chat, lost)
  chains[buf] = blocks.new(buf, chat)
  chains[buf].lost = lost
  vim.bo[buf].undolevels = -1
  vim.bo[buf].modifiable = false
  vim.bo[buf].formatlistpat = HANGING
  vim.api.nvim_create_autocmd('BufUnload', {
    buffer = buf,
    once = true,
    callback = function()
      chains[buf] = nil
    end,
  })
end

--- Is the text lost and not redrawn yet? Then ops for it must be skipped.
---@param buf integer
---@return boolean
function M.is_lost(buf)
  return not chains[buf] or chains[buf].lost == true
end

--- Is a block on the page of older messages that is being drawn, or the placeholder for them?
---@param buf integer
---@param id? integer
---@return boolean
function M.is_paging(buf, id)
  local chain = chains[buf]
  local block = id and chain.blocks[id]
  return block ~= nil and (block.kind == 'older' or block.page == chain.page)
end

--- Does a transcript hold only one system message, such as a welcome?
---@param buf integer
---@return boolean
function M.is_greeting(buf)
  local first = chains[buf] and chains[buf].first
  return first ~= nil and first.kind == 'system' and not first.next
end

---@param buf integer
---@param id integer
---@return eca.Block, eca.Chain
local function known(buf, id)
  local chain = chains[buf]
  return chain.blocks[id] or error(('no block %s in chat %s'):format(id, chain.chat)), chain
end

--- Adjust the blank rows before a block to its neighbours.
---@param chain eca.Chain
---@param block? eca.Block
local function fix_margin(chain, block)
  local wanted = block and blocks.margin(block.previous, block)
  if not block or wanted == block.margin then
    return
  end
  local row = blocks.first_row(chain, block) - 1
  if wanted > block.margin then
    vim.api.nvim_buf_set_text(chain.buf, row, -1, row, -1, { '', '' })
  else
    vim.api.nvim_buf_set_text(chain.buf, row - 1, -1, row, -1, { '' })
  end
  block.margin = wanted
end

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
  elseif block.kind == 'attempts' then
    decoration.keys(buf, row, { 'PreviousAttempt', 'NextAttempt' })
  end
end

--- Add blocks at the end, or after another block and its nested ones. All are written by one edit.
---@param buf integer
---@param openings eca.Opening[] consecutive; only the first may have `after`
function M.open(buf, openings)
  local chain, after = chains[buf], openings[1].after
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
  fix_margin(chain, previous.next)
end

--- Called when the placeholder for older messages changes: a page of them is complete.
---@param chain eca.Chain
---@param block eca.Block
local function finish_page(chain, block)
  if block.kind == 'older' then
    chain.page = chain.page + 1
  end
end

--- Replace the header of a block.
---@param buf integer
---@param op { block: integer, header: eca.Segment[], lost?: eca.Segment[] } lost: the header if the
---host exits before the block is complete
function M.header(buf, op)
  local block, chain = known(buf, op.block)
  local row = blocks.first_row(chain, block)
  vim.api.nvim_buf_set_text(buf, row, 0, row, -1, { decoration.header_text(op.header) })
  block.lost = op.lost
  finish_page(chain, block)
  decoration.clear(buf, row, row)
  decoration.header(buf, row, op.header)
end

--- Append text to the end of a block's body.
---@param buf integer
---@param op { block: integer, text: string }
function M.append(buf, op)
  local block, chain = known(buf, op.block)
  local lines, held = blocks.take_lines(block, op.text)
  if not lines then
    block.held = held
    return
  end
  local row = block.next and blocks.last_row(chain, block) or vim.api.nvim_buf_line_count(buf) - 1
  vim.api.nvim_buf_set_text(buf, row, -1, row, -1, lines)
  local first_new = block.empty and row or row + 1
  block.empty, block.held = false, held
  if block.kind == 'user' then
    decoration.user(buf, first_new, row + #lines - 1)
  end
end

---@param chain eca.Chain
---@param block eca.Block
---@param lines string[]
---@return integer first row of the body, integer last
local function replace_rows(chain, block, lines)
  local start, last = blocks.first_row(chain, block), blocks.last_row(chain, block)
  local first = block.headed and start + 1 or start
  local new = #lines > 0 and lines or { '' }
  if block.headed and #lines > 0 then
    new = vim.list_extend({ '' }, lines)
  end
  vim.api.nvim_buf_set_text(chain.buf, start, block.headed and -1 or 0, last, -1, new)
  return first, first + #lines - 1
end

--- Replace the body of a block; no lines close it.
---@param buf integer
---@param op { block: integer, lines: string[], marks?: eca.Mark[], language?: string } language: if
---the whole body is code; '' for plain text
function M.body(buf, op)
  local block, chain = known(buf, op.block)
  local lines, is_prose = op.lines, blocks.PROSE[block.kind]
  if not block.empty then
    local start = blocks.first_row(chain, block) + (block.headed and 1 or 0)
    decoration.clear(buf, start, blocks.last_row(chain, block))
  end
  local first, last = replace_rows(chain, block, lines)
  block.empty, block.held = #lines == 0, 0
  if block.kind == 'user' then
    decoration.user(buf, first, last)
  end
  decoration.marks(buf, first, op.marks or {}, is_prose)
  block.reading = nil
  if CODE[op.language] and block.headed and not is_prose and not block.empty then
    fences.body_is_code(block, #lines, op.language)
  end
end

--- Called when a block gets no more text.
---@param buf integer
---@param op { block: integer }
function M.close(buf, op)
  local block = known(buf, op.block)
  block.closed = true
  if block.reading then -- it is on a screen: what stands at its end is complete now
    vim.api.nvim__redraw({ buf = buf, valid = false })
  end
end

--- Remove a block.
---@param buf integer
---@param op { block: integer }
function M.remove(buf, op)
  local block, chain = known(buf, op.block)
  local first, last = blocks.first_row(chain, block) - block.margin, blocks.last_row(chain, block)
  local following = block.next
  decoration.clear(buf, first, last)
  if block.previous then
    vim.api.nvim_buf_set_text(buf, first - 1, -1, last, -1, { '' })
  elseif following then
    vim.api.nvim_buf_set_lines(buf, 0, blocks.first_row(chain, following), false, {})
    following.margin = 0
  else
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, { '' })
  end
  blocks.unlink(chain, block)
  fix_margin(chain, following)
  finish_page(chain, block)
end

--- Remove all blocks.
---@param buf integer
function M.clear(buf)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, { '' })
  vim.api.nvim_buf_clear_namespace(buf, -1, 0, -1)
  chains[buf] = blocks.new(buf, chains[buf].chat)
end

M.is_transcript = places.is_transcript
M.block_at = places.block_at
M.range = places.range
M.find = places.find
M.unfinished = places.unfinished

return M
