--- Contexts: what goes along with a prompt beside its words.
---
--- Rules kept here:
--- - A context is a token in the prompt (`@src/io.py:10-20`) or an item on the chat's context line.
---   Deleting the token takes the context away. `@cursor` is where the user was in code.
--- - What changes is read when the prompt is sent, never before: cursor, selection, buffer text.
--- - Lines are 1-based, columns 1-based in UTF-16 code units, paths absolute.
local paths = require('eca.paths')
local tokens = require('eca.context_tokens')

local M = {}

---@class eca.Place
---@field win integer
---@field buf integer

---@class eca.Selected
---@field buf integer
---@field tick integer changedtick when it was made
---@field cursor integer[] where the cursor was left
---@field first integer[] (1,0)-based
---@field last integer[] (1,0)-based, inclusive

local last_place = nil ---@type eca.Place?
local selected = nil ---@type eca.Selected?
local lines = {} ---@type table<string, eca.Context[]> context line by chat

---@param buf integer
---@param line integer 1-based
---@param column integer 0-based bytes
---@return integer[] position
local function position(buf, line, column)
  local text = vim.api.nvim_buf_get_lines(buf, line - 1, line, false)[1] or ''
  return { line, vim.fn.strutf16len(text:sub(1, column)) + 1 }
end

local function note_place()
  local buf = vim.api.nvim_get_current_buf()
  if paths.of_buffer(buf) then
    last_place = { win = vim.api.nvim_get_current_win(), buf = buf }
  end
end

local function note_selection()
  local buf = vim.api.nvim_get_current_buf()
  if not paths.of_buffer(buf) then
    return
  end
  local first, last = vim.fn.getpos('v'), vim.fn.getpos('.')
  if first[2] > last[2] or (first[2] == last[2] and first[3] > last[3]) then
    first, last = last, first
  end
  local whole = vim.v.event.old_mode == 'V'
  selected = {
    buf = buf,
    tick = vim.api.nvim_buf_get_changedtick(buf),
    cursor = vim.api.nvim_win_get_cursor(0),
    first = { first[2], whole and 0 or first[3] - 1 },
    last = { last[2], whole and vim.v.maxcol or last[3] },
  }
end

--- Begin to follow the last code window; done once, when a chat is first opened.
function M.track()
  local group = vim.api.nvim_create_augroup('eca.contexts', { clear = true })
  vim.api.nvim_create_autocmd({ 'WinEnter', 'BufEnter', 'WinLeave' }, {
    group = group,
    callback = note_place,
  })
  vim.api.nvim_create_autocmd('ModeChanged', {
    group = group,
    pattern = '[vV\22]*:*',
    callback = note_selection,
  })
  note_place()
end

---@param place eca.Place
---@return integer[] cursor (1,0)-based
local function cursor_of(place)
  local valid = vim.api.nvim_win_is_valid(place.win)
  if valid and vim.api.nvim_win_get_buf(place.win) == place.buf then
    return vim.api.nvim_win_get_cursor(place.win)
  end
  return vim.api.nvim_buf_get_mark(place.buf, '"')
end

--- The last code window's cursor, or the selection the user left it with.
---@return eca.Context?
function M.cursor()
  local place = last_place
  local path = place and paths.of_buffer(place.buf)
  if not place or not path or not vim.api.nvim_buf_is_loaded(place.buf) then
    return nil
  end
  local cursor = cursor_of(place)
  local first, last = cursor, cursor
  local kept = selected
  if
    kept
    and kept.buf == place.buf
    and kept.tick == vim.api.nvim_buf_get_changedtick(place.buf)
    and vim.deep_equal(kept.cursor, cursor)
  then
    first, last = kept.first, kept.last
  end
  return {
    type = 'cursor',
    path = path,
    start = position(place.buf, math.max(first[1], 1), first[2]),
    ['end'] = position(place.buf, math.max(last[1], 1), last[2]),
  }
end

--- A context for lines of a buffer: its file, or its text when it has none.
---@param buf integer
---@param first? integer
---@param last? integer
---@return eca.Context
function M.of_lines(buf, first, last)
  local path = paths.of_buffer(buf)
  if path then
    return { type = 'file', path = path, first = first, last = last }
  end
  return { type = 'buffer', buf = buf, first = first, last = last }
end

--- Put something on a chat's context line; the same thing twice stays one.
---@param chat string
---@param item eca.Context
function M.add(chat, item)
  local line = lines[chat] or {}
  lines[chat] = line
  for _, known in ipairs(line) do
    if vim.deep_equal(known, item) then
      return
    end
  end
  line[#line + 1] = item
end

--- Take an item off a chat's context line, by its place.
---@param chat string
---@param index integer 1-based
function M.remove(chat, index)
  if lines[chat] then
    table.remove(lines[chat], index)
  end
end

--- All that would go along with a prompt now: the context line, the cursor, and the text's tokens.
---@param chat string
---@param text? string the prompt
---@return eca.Context[]
function M.list(chat, text)
  local found = vim.list_extend({}, lines[chat] or {})
  if require('eca.config').get().contexts.cursor then
    found[#found + 1] = M.cursor()
  end
  for _, token in ipairs(tokens.find(text or '')) do
    if token.context.type ~= 'cursor' then
      found[#found + 1] = token.context
    end
  end
  return found
end

--- Text contexts are read now.
---@param item eca.Context
---@return eca.Context?
local function read(item)
  if item.type ~= 'buffer' then
    return item
  end
  if not vim.api.nvim_buf_is_loaded(item.buf) then
    return nil
  end
  local text = vim.api.nvim_buf_get_lines(item.buf, (item.first or 1) - 1, item.last or -1, false)
  local name = vim.api.nvim_buf_get_name(item.buf)
  local label = name ~= '' and name or ('buffer ' .. item.buf)
  return { type = 'text', label = label, content = table.concat(text, '\n') }
end

--- What a prompt that is being sent carries.
---@param chat string
---@param text string
---@return eca.Context[]
function M.collect(chat, text)
  local found = {} ---@type eca.Context[]
  for _, item in ipairs(M.list(chat, text)) do
    found[#found + 1] = read(item)
  end
  return found
end

--- How a context is written on the context line: as its token would be.
---@param item eca.Context
---@return string
function M.label(item)
  return tokens.write(item)
end

return M
