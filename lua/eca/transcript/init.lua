--- Writes the blocks of a chat into its buffer.
---
--- Rules kept here:
--- - The buffer is never read to find out what is in it, and never rewritten. The size of each edit
---   depends on its op and not on the length of the chat.
--- - If an edit fails (the text is locked), the error is raised before anything here has changed,
---   so that the same op can be drawn again.
--- - Rows are 0-based, last rows inclusive.
local block_openings = require('eca.transcript.openings')
local blocks = require('eca.transcript.blocks')
local decoration = require('eca.transcript.decoration')
local fences = require('eca.markdown.fences')
local places = require('eca.transcript.places')
local unbroken = require('eca.markdown.unbroken')
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
      unbroken.forget(buf)
    end,
  })
end

--- Is the text lost and not redrawn yet? Then ops for it must be skipped.
---@param buf integer
---@return boolean
function M.is_lost(buf)
  return chains[buf].lost == true
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

--- Add blocks at the end, or after another block and its nested ones.
---@param buf integer
---@param openings eca.Opening[] consecutive; only the first may have `after`
function M.open(buf, openings)
  local chain = chains[buf]
  block_openings.write(chain, openings)
  fix_margin(chain, chain.blocks[openings[#openings].block].next)
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

--- Is a row a placeholder for omitted lines of a body?
---@param buf integer
---@param row integer
---@return boolean
function M.is_cut(buf, row)
  return decoration.has(buf, row, 'EcaMore')
end

--- Is a position on what a tool call is applied to, in its header?
---@param buf integer
---@param row integer
---@param column integer 0-based bytes
---@return boolean
function M.is_target(buf, row, column)
  return decoration.has(buf, row, 'EcaToolTarget', column)
end

M.is_transcript = places.is_transcript
M.block_at = places.block_at
M.range = places.range
M.find = places.find
M.unfinished = places.unfinished

return M
