--- How much of a model's window contexts take, about: four bytes are a token.
---
--- Rules kept here:
--- - Drawing waits for nothing. Sizes of files are those on the disk, of buffers those in Neovim; a
---   list is read once after each change. The host measures folders and git's diff: until it has,
---   there is no size, or the one before. Of web pages and resources none is known.
--- - A size of the host's counts until a file may have changed. It is asked again when it is drawn.
local abilities = require('eca.state.abilities')
local chats = require('eca.chat.buffers')
local host = require('eca.host')
local mirror = require('eca.state.mirror')
local paths = require('eca.files.paths')
local places = require('eca.context.places')
local texts = require('eca.context.texts')

local M = {}

local BYTES_OF_TOKEN = 4
local MOST_KEPT = 100 -- sizes that the host has told
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

--- Bytes of what is selected in the last code window.
---@return integer?
local function of_selection()
  local found = places.selection()
  if not found then
    return nil
  end
  local function offset(place)
    return vim.api.nvim_buf_get_offset(found.buf, place[1] - 1) + place[2]
  end
  return math.min(math.max(offset(found.last) - offset(found.first), 0), texts.MOST_BYTES)
end

---@class eca.ReadReport
---@field key any differs once the report has changed
---@field bytes? integer

local reports = {} ---@type table<string, eca.ReadReport> by the function that reads it

--- Bytes of a report, which is read unless that was done already.
---@param reader string of `eca.context.reports`
---@param key any
---@return integer?
local function of_report(reader, key)
  local known = reports[reader]
  if not known or known.key ~= key then
    local found = require('eca.context.reports')[reader]() -- late: rarely needed
    known = { key = key, bytes = found and #found.content }
    reports[reader] = known
  end
  return known.bytes
end

local diagnostics_tick = 0

---@class eca.MeasuredContext what the host measures
---@field item eca.Context
---@field bytes? integer|false false: only its name is sent
---@field state 'stale'|'asked'|'fresh'

local measured = {} ---@type table<string, eca.MeasuredContext>
local due = {} ---@type eca.MeasuredContext[] what the host is asked next
local listeners = {} ---@type fun()[]

--- Set a function that is called when a size has changed.
---@param listener fun()
function M.listen(listener)
  listeners[#listeners + 1] = listener
end

--- Draw all sizes again; what is drawn is then asked for.
local function redraw()
  for _, id in ipairs(chats.ids()) do -- beside the tokens of drafts
    local input = assert(chats.get(id)).input
    if vim.api.nvim_buf_is_loaded(input) then
      vim.api.nvim__redraw({ buf = input, valid = false })
    end
  end
  for _, listener in ipairs(listeners) do
    listener()
  end
end

--- Called with an answer of the host; nil if there is none.
---@param asked eca.MeasuredContext[]
---@param answer? (integer|false)[]
local function received(asked, answer)
  local has_changed = false
  for index, each in ipairs(asked) do
    local bytes = each.bytes
    if answer then
      bytes = answer[index]
    end
    has_changed = has_changed or bytes ~= each.bytes
    each.bytes, each.state = bytes, answer and each.state == 'asked' and 'fresh' or 'stale'
  end
  if has_changed then
    redraw()
  end
end

local function ask()
  local asked = due
  due = {}
  local items = vim.tbl_map(function(each)
    return each.item
  end, asked)
  local is_asked = host.ask_if_running('measure_contexts', { items = items }, function(answer)
    received(asked, answer)
  end)
  if not is_asked then
    received(asked, nil)
  end
end

--- What the host has measured; it is asked for what may have changed.
---@param item eca.Context
---@return integer|false?
local function of_host(item)
  local key = ('%s %s'):format(item.type, item.path or item.folder)
  local known = measured[key] or { item = item, state = 'stale' }
  measured[key] = known
  if known.state == 'stale' then
    known.state = 'asked'
    due[#due + 1] = known
    if #due == 1 then
      vim.schedule(ask)
    end
  end
  return known.bytes
end

local group = vim.api.nvim_create_augroup('eca.context.sizes', {})
vim.api.nvim_create_autocmd('DiagnosticChanged', {
  group = group,
  callback = function()
    diagnostics_tick = diagnostics_tick + 1
  end,
})
local function files_changed()
  if not next(measured) then
    return
  elseif vim.tbl_count(measured) > MOST_KEPT then
    measured = {}
  end
  for _, each in pairs(measured) do
    each.state = 'stale' -- also what is being measured
  end
  redraw() -- asks for what is shown
end

vim.api.nvim_create_autocmd({ 'BufWritePost', 'FocusGained', 'ShellCmdPost', 'TermClose' }, {
  group = group,
  callback = files_changed,
})
vim.api.nvim_create_autocmd('User', {
  group = group,
  pattern = 'EcaFileChanged',
  callback = files_changed,
})

---@type table<eca.ContextType, fun(item: eca.Context, chat?: string): integer|false?> bytes
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
  selection = of_selection,
  diagnostics = function()
    return of_report('read_diagnostics', diagnostics_tick)
  end,
  quickfix = function()
    local list = vim.fn.getqflist({ id = 0, changedtick = 0 })
    return of_report('read_quickfix', ('%d %d'):format(list.id, list.changedtick))
  end,
  diff = function()
    return of_host({ type = 'diff', folder = vim.fn.getcwd() }) or nil
  end,
  directory = function(item, chat)
    local is_sent = abilities.has(chat, 'folders')
    if is_sent then
      return of_host({ type = 'directory', path = item.path })
    end
    return false
  end,
}

--- Tokens of a context, about; false if only its name is sent.
---@param item eca.Context
---@param chat? string the chat that it is sent to
---@return integer|false?
local function tokens_of(item, chat)
  local bytes = nil
  if BYTES[item.type] then
    bytes = BYTES[item.type](item, chat)
  end
  return bytes and math.ceil(bytes / BYTES_OF_TOKEN)
end

--- How much some contexts take together, in words.
---@param items eca.Context[]
---@param chat? string the chat that they are sent to
---@return string? as `~12k tokens`
function M.words(items, chat)
  local sum, is_named = nil, false
  for _, item in ipairs(items) do
    local count = tokens_of(item, chat)
    is_named = is_named or count == false
    sum = count and (sum or 0) + count or sum
  end
  return sum and ('~%s tokens'):format(M.short(sum)) or is_named and 'name only' or nil
end

--- Do contexts take more than half of a model's window? How much that is, in words.
---@param items eca.Context[]
---@param chat string the chat that they are sent to
---@return string? as `~12k of 20k tokens`
function M.excess(items, chat)
  local sum, limit = 0, mirror.status(chat).limit
  for _, item in ipairs(limit and items or {}) do
    sum = sum + (tokens_of(item, chat) or 0)
  end
  if limit and sum > limit / 2 then
    return ('~%s of %s tokens'):format(M.short(sum), M.short(limit))
  end
end

return M
