--- Colours of fenced code, in its own language, a little at a time.
---
--- Rules kept here:
--- - Only a finished fence that has been on a screen is coloured, once, into extmarks that go with
---   its text. The tree-sitter highlighter itself never sees the chat.
--- - Code is parsed as a string in pieces of PIECE rows; highlights are placed in idle slices of
---   SLICE rows, so that a key typed meanwhile waits for one slice at most.
--- - A language without a parser stays plain. A parser that fails is told in the log, once a fence.
local fences = require('eca.markdown.fences')

local M = {}

M.namespace = vim.api.nvim_create_namespace('eca.colours')

local PIECE = 200
local SLICE = 40
local PAUSE_MS = 10
local PRIORITY = 110

--- Names models write for languages whose file type is called differently.
local ALIASES = {
  js = 'javascript',
  jsx = 'javascript',
  py = 'python',
  sh = 'bash',
  shell = 'bash',
  ts = 'typescript',
  tsx = 'tsx',
  viml = 'vim',
  yml = 'yaml',
}

---@class eca.colours.Job
---@field buf integer
---@field fence eca.markdown.Fence
---@field id integer extmark of the fence
---@field language string
---@field row integer rows of code done
---@field piece? eca.colours.Piece what is being coloured now

---@class eca.colours.Piece
---@field text string
---@field root TSNode
---@field first integer row of the code where the piece begins
---@field rows integer

local queue = {} ---@type eca.colours.Job[]
local running = false

--- The parser for a fence's info word, if this Neovim has one.
---@param word string
---@return string?
function M.language_of(word)
  local name = ALIASES[word] or word
  local language = vim.treesitter.language.get_lang(name) or name
  if not language:find('^[%w_]+$') then
    return nil
  end
  local loaded, known = pcall(vim.treesitter.language.add, language)
  -- Neovim 0.10 answers nothing when the parser loaded, later ones answer true.
  if not loaded or known == false or not vim.treesitter.query.get(language, 'highlights') then
    return nil
  end
  return language
end

---@param job eca.colours.Job
---@return integer? first row of the code, integer? last exclusive
local function code_rows(job)
  local place = fences.place(job.buf, job.id)
  if not place then
    return nil, nil
  end
  return place.first + 1, place.last - 1
end

---@param job eca.colours.Job
---@param first integer
---@param last integer
---@return eca.colours.Piece?
local function parse_piece(job, first, last)
  local from = first + job.row
  local lines = vim.api.nvim_buf_get_lines(job.buf, from, math.min(from + PIECE, last), false)
  if #lines == 0 then
    return nil
  end
  local text = table.concat(lines, '\n')
  local parser = vim.treesitter.get_string_parser(text, job.language)
  return { text = text, root = parser:parse()[1]:root(), first = job.row, rows = #lines }
end

---@param job eca.colours.Job
---@param piece eca.colours.Piece
---@param first integer row in the buffer of the piece's start
---@param from integer row in the piece
---@param to integer exclusive
local function colour_rows(job, piece, first, from, to)
  local query = assert(vim.treesitter.query.get(job.language, 'highlights'))
  for id, node, metadata in query:iter_captures(piece.root, piece.text, from, to) do
    local name = query.captures[id]
    local start_row, start_col, end_row, end_col = node:range()
    if start_row >= from and start_row < to and name:sub(1, 1) ~= '_' and name ~= 'spell' then
      vim.api.nvim_buf_set_extmark(job.buf, M.namespace, first + start_row, start_col, {
        end_row = first + end_row,
        end_col = end_col,
        hl_group = '@' .. name .. '.' .. job.language,
        priority = tonumber(metadata.priority) or PRIORITY,
        strict = false,
        invalidate = true,
        undo_restore = false,
      })
    end
  end
end

--- One slice of a job.
---@param job eca.colours.Job
---@return boolean more
local function step(job)
  local first, last = code_rows(job)
  if not first or not last then
    return false
  end
  local piece = job.piece
  if not piece or job.row >= piece.first + piece.rows then
    piece = parse_piece(job, first, last)
    job.piece = piece
  end
  if not piece then
    return false
  end
  local from = job.row - piece.first
  local to = math.min(from + SLICE, piece.rows)
  colour_rows(job, piece, first + piece.first, from, to)
  job.row = piece.first + to
  return first + job.row < last
end

local work

local function schedule()
  if running or #queue == 0 then
    return
  end
  running = true
  vim.defer_fn(work, PAUSE_MS)
end

work = function()
  running = false
  local job = queue[#queue]
  if not job then
    return
  end
  local ok, more = pcall(step, job)
  if not ok then
    require('eca.notify').log('colouring ' .. job.language .. ' failed: ' .. tostring(more))
  end
  if not ok or not more then
    table.remove(queue)
  end
  schedule()
end

--- Colour a finished fence that is on the screen; at most once.
---@param buf integer
---@param place eca.markdown.PlacedFence
function M.request(buf, place)
  place.fence.coloured = true
  local language = place.fence.language ~= '' and M.language_of(place.fence.language)
  if not language then
    return
  end
  queue[#queue + 1] =
    { buf = buf, fence = place.fence, id = place.id, language = language, row = 0 }
  schedule()
end

return M
