--- Where the user is and was in code: the last code windows, and what was selected there.
---
--- Rules kept here:
--- - A code window is one with a file: not the chat's, a terminal, a list or a scratch buffer.
--- - Nothing is copied: cursor and selection are read when they are asked for.
--- - A selection counts until the text changes or the cursor moves.
local paths = require('eca.files.paths')
local workspace = require('eca.host.workspace')

local M = {}

--- Number of places that are remembered, in case the last one is closed.
local MOST_PLACES = 8

---@class eca.Place
---@field win integer
---@field buf integer

---@class eca.Selected
---@field buf integer
---@field tick integer changedtick when it was made
---@field cursor integer[] where the cursor was left
---@field first integer[] (1,0)-based
---@field last integer[] (1,0)-based, inclusive

local places = {} ---@type eca.Place[] where the user was in code, the last one first
local selected = nil ---@type eca.Selected?

---@param buf integer
---@param line integer 1-based
---@param column integer 0-based bytes
---@return integer[] position
local function position(buf, line, column)
  local text = vim.api.nvim_buf_get_lines(buf, line - 1, line, false)[1] or ''
  return { line, vim.fn.strutf16len(text:sub(1, column)) + 1 }
end

local function remember_place()
  local buf = vim.api.nvim_get_current_buf()
  if paths.of_buffer(buf) then
    places = vim.tbl_filter(function(place)
      return place.buf ~= buf and vim.api.nvim_buf_is_loaded(place.buf)
    end, places)
    table.insert(places, 1, { win = vim.api.nvim_get_current_win(), buf = buf })
    places[MOST_PLACES + 1] = nil
  end
end

--- The last place whose file is still there.
---@return eca.Place?, string? path
function M.last()
  for _, place in ipairs(places) do
    if vim.api.nvim_buf_is_loaded(place.buf) then
      return place, paths.of_buffer(place.buf)
    end
  end
end

--- The project that the user works in, if it is not part of the workspace: that of the file, or of
--- the working folder.
---@return string? root absolute
function M.other_project()
  local _, file = M.last()
  for _, from in ipairs({ file or false, vim.fn.getcwd() }) do
    local root = from and workspace.project_of(from)
    if
      root
      and not paths.inside(root, workspace.folders())
      and not paths.inside(vim.uv.os_homedir() or '/', { root })
    then
      return paths.normalize(root)
    end
  end
end

--- The bytes of a line up to the end of the character that begins at a byte.
---@param buf integer
---@param line integer 1-based
---@param byte integer 1-based
---@return integer
local function character_end(buf, line, byte)
  local text = vim.api.nvim_buf_get_lines(buf, line - 1, line, false)[1] or ''
  if byte > #text then
    return #text
  end
  return byte + vim.str_utf_end(text, byte)
end

--- A selection by its two corners, given as `getpos` does, in any order.
---@param buf integer
---@param mode string v, V or CTRL-V
---@param one integer[]
---@param other integer[]
---@return eca.Selected
local function selection(buf, mode, one, other)
  local first, last = one, other
  if first[2] > last[2] or (first[2] == last[2] and first[3] > last[3]) then
    first, last = last, first
  end
  local from, to = first[3], last[3]
  if mode == 'V' then
    from, to = 1, vim.v.maxcol
  elseif mode == '\22' then
    from, to = math.min(from, to), math.max(from, to)
  end
  return {
    buf = buf,
    tick = vim.api.nvim_buf_get_changedtick(buf),
    cursor = vim.api.nvim_win_get_cursor(0),
    first = { first[2], from - 1 },
    last = { last[2], character_end(buf, last[2], to) },
  }
end

local VISUAL = '^[vV\22]'

--- Begin to track the last code window. Called when the first chat is opened.
function M.track()
  local group = vim.api.nvim_create_augroup('eca.context', { clear = true })
  vim.api.nvim_create_autocmd({ 'WinEnter', 'BufEnter', 'BufFilePost', 'WinLeave' }, {
    group = group,
    callback = remember_place,
  })
  vim.api.nvim_create_autocmd('ModeChanged', {
    group = group,
    pattern = '[vV\22]*:[^vV\22]*',
    callback = function() -- a selection has ended: it is kept for the next prompt
      local buf = vim.api.nvim_get_current_buf()
      if paths.of_buffer(buf) then
        local from, to = vim.fn.getpos("'<"), vim.fn.getpos("'>")
        selected = selection(buf, vim.fn.visualmode(), from, to)
      end
    end,
  })
  -- An operator changes the text of its selection only after the selection has ended.
  vim.api.nvim_create_autocmd('TextChanged', {
    group = group,
    callback = function(event)
      selected = selected and selected.buf ~= event.buf and selected or nil
    end,
  })
  remember_place()
end

--- Where a place's cursor is: in its window, else in another of its buffer, else where it was left.
---@param place eca.Place
---@return integer[] cursor (1,0)-based
local function cursor_of(place)
  local wins = vim.fn.win_findbuf(place.buf)
  local win = vim.list_contains(wins, place.win) and place.win or wins[1]
  return win and vim.api.nvim_win_get_cursor(win) or vim.api.nvim_buf_get_mark(place.buf, '"')
end

--- The selection in a place: the active one, or the last one if neither text nor cursor has changed
--- since. A yank leaves the cursor at its start.
---@param place eca.Place
---@param cursor integer[]
---@return eca.Selected?
local function selection_in(place, cursor)
  local mode = vim.api.nvim_get_mode().mode
  if place.win == vim.api.nvim_get_current_win() and mode:find(VISUAL) then
    return selection(place.buf, mode:sub(1, 1), vim.fn.getpos('v'), vim.fn.getpos('.'))
  end
  local kept = selected
  local fresh = kept
    and kept.buf == place.buf
    and kept.tick == vim.api.nvim_buf_get_changedtick(place.buf)
    and (vim.deep_equal(kept.cursor, cursor) or vim.deep_equal(kept.first, cursor))
  return fresh and kept or nil
end

--- The last code window's cursor, or the selection the user left it with.
---@return eca.Context?
function M.cursor()
  local place, path = M.last()
  if not place or not path then
    return nil
  end
  local cursor = cursor_of(place)
  local kept = selection_in(place, cursor) or { first = cursor, last = cursor }
  local first, last = kept.first, kept.last
  return {
    type = 'cursor',
    path = path,
    start = position(place.buf, math.max(first[1], 1), first[2]),
    ['end'] = position(place.buf, math.max(last[1], 1), last[2]),
  }
end

---@class eca.Lines
---@field buf integer
---@field first integer 1-based
---@field last integer inclusive

--- The line of the cursor in the last code window, or those that are selected there.
---@return eca.Lines?
function M.lines()
  local place, cursor = M.last(), M.cursor()
  return place and cursor and { buf = place.buf, first = cursor.start[1], last = cursor['end'][1] }
end

--- What is selected in the last code window, or was when the user left it.
---@return eca.Selected?
function M.selection()
  local place = M.last()
  return place and selection_in(place, cursor_of(place))
end

--- End visual mode. Returns the first and last selected line (1-based, inclusive), or nil if the
--- user was not in visual mode.
---@return integer? first, integer? last
function M.selected_lines()
  if not vim.api.nvim_get_mode().mode:find(VISUAL) then
    return nil
  end
  local first, last = vim.fn.line('v'), vim.fn.line('.')
  vim.api.nvim_feedkeys(vim.keycode('<Esc>'), 'nx', false)
  return math.min(first, last), math.max(first, last)
end

return M
