--- How much of a model's window contexts take, about: four bytes are a token.
---
--- Rules kept here:
--- - Nothing is read for it: sizes of files are those on the disk, others those in Neovim. What is
---   not known so, as of web pages, folders and lists, has none.
local chats = require('eca.chat.buffers')
local paths = require('eca.files.paths')
local texts = require('eca.context.texts')

local M = {}

local BYTES_OF_TOKEN = 4
local MOST_OF_CHAT = 60000 -- as the host sends of one
local MOST_OF_FILE = 1000000 -- of a larger one only the name is sent
local IMAGES = { gif = true, jpeg = true, jpg = true, png = true, webp = true }

---@param path string
---@return boolean
local function is_image(path)
  return IMAGES[vim.fn.fnamemodify(path, ':e'):lower()] ~= nil
end

--- A number of tokens, in at most four letters.
---@param count integer
---@return string
function M.short(count)
  if count < 1000 then
    return tostring(count)
  elseif count < 1000000 then
    return ('%dk'):format(math.floor(count / 1000 + 0.5))
  end
  return (('%.1fM'):format(count / 1000000):gsub('%.0M', 'M'))
end

--- Bytes of some lines of a buffer.
---@param buf? integer
---@param first? integer 1-based
---@param last? integer
---@return integer?
local function of_lines(buf, first, last)
  if not buf or not vim.api.nvim_buf_is_loaded(buf) then
    return nil
  end
  local count = vim.api.nvim_buf_line_count(buf)
  local from = math.min((first or 1) - 1, count)
  local to = math.min(last or count, count)
  local bytes = vim.api.nvim_buf_get_offset(buf, to) - vim.api.nvim_buf_get_offset(buf, from)
  return math.min(math.max(bytes, 0), texts.MOST_BYTES)
end

---@type table<eca.ContextType, fun(item: eca.Context): integer?> bytes
local BYTES = {
  buffer = function(item)
    return of_lines(item.buf, item.first, item.last)
  end,
  terminal = function()
    local buf = texts.last_terminal()
    return buf and of_lines(buf, texts.tail(buf, texts.TAIL))
  end,
  chat = function(item)
    local chat = chats.get(item.chat)
    local bytes = chat and of_lines(chat.buf)
    return bytes and math.min(bytes, MOST_OF_CHAT)
  end,
  file = function(item)
    local buf = item.first and paths.buffer_of(item.path)
    local stat = not item.first and vim.uv.fs_stat(item.path)
    local is_sent = stat and stat.size <= MOST_OF_FILE and not is_image(item.path)
    return buf and of_lines(buf, item.first, item.last) or is_sent and stat.size or nil
  end,
}

--- Tokens of a context, about.
---@param item eca.Context
---@return integer?
function M.of(item)
  local bytes = BYTES[item.type] and BYTES[item.type](item)
  return bytes and math.ceil(bytes / BYTES_OF_TOKEN)
end

--- How much a context takes, in words.
---@param item eca.Context
---@return string? as `~12k tokens`
function M.words(item)
  local count = M.of(item)
  return count and ('~%s tokens'):format(M.short(count))
end

--- Do contexts take more than half of a model's window? What is said then.
---@param items eca.Context[]
---@param limit? integer tokens of the window
---@return string?
function M.warning(items, limit)
  local sum = 0
  for _, item in ipairs(items) do
    sum = sum + (M.of(item) or 0)
  end
  if limit and sum > limit / 2 then
    return ('~%s of %s tokens: over half'):format(M.short(sum), M.short(limit))
  end
end

return M
