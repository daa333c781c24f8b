--- Contexts of buffers without a file: the host cannot read these, so their text is added here.
local M = {}

--- Describe a context: of a buffer the number of its lines, if there is such a buffer.
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

--- Describe a context with the text that a buffer has now.
---@param item eca.Context
---@return eca.Context
function M.read(item)
  local found = M.described(item)
  if found.count then
    local first, last = lines_of(found)
    local name = vim.api.nvim_buf_get_name(found.buf)
    found.label = name ~= '' and name or ('buffer ' .. found.buf)
    local lines = vim.api.nvim_buf_get_lines(found.buf, first - 1, last, false)
    found.content = table.concat(lines, '\n')
  end
  return found
end

return M
