--- Highlights fenced code in its own language, a piece at a time.
---
--- Rules kept here:
--- - Only code that is on a screen and gets no more text is highlighted, once, by extmarks that
---   move with the text. The tree-sitter highlighter itself is never attached to the chat.
--- - Work is done while Neovim is idle, PIECE rows at a time, the last requested first: a key waits
---   for at most one piece. A piece that has left the screen is dropped.
--- - A piece is parsed with the LEAD rows before it, so that it may begin within a function. A
---   string or comment that begins even further above is mistaken for code.
--- - A language is loaded in steps at its first use, each as long as a piece of work.
--- - A language without parser and syntax stays plain. The first failure of a
---   language goes to the log.
local fences = require('eca.markdown.fences')
local log = require('eca.host.log')
local languages = require('eca.markdown.languages')

local M = {}

M.namespace = vim.api.nvim_create_namespace('eca.colours')

local PIECE = 20
local LEAD = 60
--- Milliseconds between two pieces, in which Neovim handles keys.
local PAUSE_MS = 10
--- Bytes that are parsed at once, at most. If a piece with its lead is longer, it is parsed alone;
--- if it still is, not at all.
local MOST_BYTES = 16000
local PRIORITY = 110

---@class eca.colours.Job
---@field buf integer
---@field block eca.Block
---@field fence eca.markdown.Fence
---@field piece integer 0-based

local queue = {} ---@type eca.colours.Job[]
local running = false
local failed = {} ---@type table<string, true> languages

---@param buf integer
---@param first integer
---@param last integer exclusive
---@return boolean
local function on_screen(buf, first, last)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if vim.fn.line('w0', win) <= last and vim.fn.line('w$', win) > first then
      return true
    end
  end
  return false
end

---@param buf integer
---@param offset integer buffer row of the regions' row 0
---@param regions eca.markdown.CodeRegion[]
local function place_regions(buf, offset, regions)
  for _, region in ipairs(regions) do
    vim.api.nvim_buf_set_extmark(buf, M.namespace, offset + region.row, region.first, {
      end_row = offset + region.end_row,
      end_col = region.last,
      hl_group = region.group,
      priority = PRIORITY,
      strict = false,
      invalidate = true,
      undo_restore = false,
    })
  end
end

---@param job eca.colours.Job
local function colour(job)
  local place = fences.place(job.buf, job.block, job.fence)
  if not place then
    return
  end
  local start = place.first + 1
  local first = start + job.piece * PIECE
  local last = math.min(first + PIECE, job.fence.closed and place.last - 1 or place.last)
  if first >= last then
    return
  end
  if not on_screen(job.buf, first, last) then
    job.fence.coloured[job.piece] = nil
    return
  end
  local done, language = languages.prepare(job.fence.language)
  if not done then
    queue[#queue + 1] = job
  end
  local function is_short(from)
    local offset = vim.api.nvim_buf_get_offset
    return offset(job.buf, last) - offset(job.buf, from) <= MOST_BYTES
  end
  local from = math.max(start, first - LEAD)
  from = is_short(from) and from or first
  if not done or not language or not is_short(from) then
    return
  end
  local lines = vim.api.nvim_buf_get_lines(job.buf, from, last, false)
  -- late: not needed by a chat without code
  local reader = language.queries and languages or require('eca.markdown.syntaxed')
  place_regions(job.buf, from, reader.regions(language, lines, first - from))
end

local work

local function schedule()
  if not running and #queue > 0 then
    running = true
    vim.defer_fn(work, PAUSE_MS)
  end
end

work = function()
  running = false
  local job = table.remove(queue)
  local worked, fault = pcall(colour, job)
  local language = job.fence.language
  if not worked and not failed[language] then
    failed[language] = true
    log.write(('highlighting %s failed: %s'):format(language, fault))
  end
  schedule()
end

--- Request highlighting of the pieces of a fence in some rows of the screen, each at most once.
---@param buf integer
---@param place eca.markdown.PlacedFence
---@param top integer
---@param bottom integer inclusive
function M.request(buf, place, top, bottom)
  local fence = place.fence
  if fence.language == '' then
    return
  end
  local start = place.first + 1
  local first = math.max(0, math.floor((top - start) / PIECE))
  local last = math.floor((math.min(bottom, place.last - 1) - start) / PIECE)
  for piece = first, last do
    local complete = fence.last or start + (piece + 1) * PIECE < place.last
    if complete and not fence.coloured[piece] then
      fence.coloured[piece] = true
      queue[#queue + 1] = { buf = buf, block = place.block, fence = fence, piece = piece }
    end
  end
  schedule()
end

return M
