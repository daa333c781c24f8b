--- The text of buffers, and of what is selected in one: the host cannot read these.
local bounded = require('eca.context.bounded')
local places = require('eca.context.places')
local scan = require('eca.text.scan')

local M = {}

--- What is read for a context.
---@class eca.ReadText
---@field label string
---@field content string
---@field cut? string what is sent of it, if it was cut

--- Describe a context: of a buffer the number of its lines, if it is loaded.
---@param item eca.Context
---@return eca.Context
function M.described(item)
  if item.type ~= 'buffer' then
    return item
  end
  local worked, is_loaded = pcall(vim.api.nvim_buf_is_loaded, item.buf)
  local count = worked and is_loaded and vim.api.nvim_buf_line_count(item.buf) or nil
  return vim.tbl_extend('force', item, { count = count })
end

--- First and last line of the context, in order and within the buffer.
---@param item eca.Context
---@return integer first, integer last
local function lines_of(item)
  local first, last = tonumber(item.first) or 1, tonumber(item.last) or item.count
  local function within(line)
    return math.floor(math.max(1, math.min(line, item.count)))
  end
  return within(math.min(first, last)), within(math.max(first, last))
end

--- The name of a buffer: that of a terminal is its command.
---@param buf integer
---@return string
function M.name(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  return name ~= '' and name or ('buffer %d'):format(buf)
end

--- Read the text that a buffer has now; of a long terminal its end.
---@param item eca.Context
---@return eca.ReadText? read
---@return string? fault why there is nothing to send, in one line
function M.read(item)
  local found = M.described(item)
  if not found.count then
    return nil, ('there is no buffer %s'):format(tostring(item.buf))
  end
  local first, last = lines_of(found)
  local line = vim.api.nvim_buf_get_lines(found.buf, last - 1, last, false)[1] or ''
  local range = { buf = found.buf, first = { first - 1, 0 }, last = { last - 1, #line } }
  local is_terminal = vim.bo[found.buf].buftype == 'terminal'
  local read = bounded.of_buffer(range, is_terminal)
  local text = is_terminal and scan.without_end(read.text, '%s') or read.text
  return { label = M.name(found.buf), content = text, cut = read.cut }
end

--- Read what is selected in the last code window, or was when the user left it.
---@return eca.ReadText? read
---@return string? fault why there is nothing to send, in one line
function M.selection()
  local found = places.selection()
  if not found then
    return nil, 'nothing is selected in the last code window'
  end
  local first, last = found.first, found.last
  local read = bounded.of_buffer({
    buf = found.buf,
    first = { first[1] - 1, first[2] },
    last = { last[1] - 1, last[2] },
  })
  local label = ('%s:%d-%d'):format(M.name(found.buf), first[1], last[1])
  return { label = 'selection in ' .. label, content = read.text, cut = read.cut }
end

return M
