--- Windows on a transcript scroll with its end, if their cursor was there.
---
--- Rules kept here:
--- - A window whose cursor is not on the last row stays where it is. A mark is on the last row that
---   it has shown; the rows below are new.
--- - The agent's welcome is shown from its top if there is not room for all of it.
--- - Nothing moves while the user selects, searches or is in the middle of a command in the window.
--- - The current window and the mode never change.
local M = {}

--- A mark for each window that is not at the end; its id is that of the window.
local shown = vim.api.nvim_create_namespace('eca.window.follow_end')

---@class eca.Followed a transcript that is being changed
---@field windows integer[] that were at the end
---@field last integer its last row before
---@field counts? boolean the counts of new rows have changed

local followed = {} ---@type table<integer, eca.Followed> by buffer

---@class eca.LeftView where a window was in a chat
---@field view table<string, integer>
---@field rows integer of the transcript
---@field at_end boolean

local left = {} ---@type table<integer, eca.LeftView> by buffer

--- Is the user selecting, searching or in the middle of a command in this window?
---@param win integer
---@return boolean
local function is_busy(win)
  if win ~= vim.api.nvim_get_current_win() then
    return false
  end
  local mode = vim.api.nvim_get_mode().mode
  return mode:find('^[vVsS\22\19]') ~= nil
    or mode:find('^no') ~= nil
    or (mode == 'c' and vim.fn.getcmdtype():find('[/?]') ~= nil)
end

--- Does the transcript hold only a welcome that is too long for this window?
---@param win integer
---@return boolean
local function is_greeting(win)
  -- Late: what asks for the current chat alone, such as a status line, draws no text.
  return require('eca.transcript').is_greeting(vim.api.nvim_win_get_buf(win))
    and vim.api.nvim_win_text_height(win, {}).all > vim.api.nvim_win_get_height(win) - 1
end

--- Is the cursor of a window where it scrolls with the end?
---@param win integer
---@param count integer rows of its buffer
---@return boolean
local function is_at_end(win, count)
  local row = vim.api.nvim_win_get_cursor(win)[1]
  return row >= count or (row == 1 and is_greeting(win))
end

--- The last row that a window has shown, if rows below it are new.
---@param win integer
---@param buf integer
---@return integer?
local function last_shown(win, buf)
  return vim.api.nvim_buf_get_extmark_by_id(buf, shown, win, {})[1]
end

---@param win integer
---@param buf integer
---@param row integer
local function set_shown(win, buf, row)
  vim.api.nvim_buf_set_extmark(buf, shown, row, 0, { id = win, right_gravity = false })
end

--- Called before a transcript changes: notes which windows are at its end. Until `after` nothing
--- else runs, so that these are the ones to scroll.
---@param buf integer
function M.before(buf)
  local count, windows = vim.api.nvim_buf_line_count(buf), {} ---@type integer, integer[]
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if is_at_end(win, count) and not is_busy(win) then
      windows[#windows + 1] = win
    elseif not last_shown(win, buf) then
      set_shown(win, buf, count - 1)
    end
  end
  followed[buf] = { windows = windows, last = count - 1 }
end

--- Called when the transcript was emptied: every window is at the end, also that of a reader, whose
--- rows are gone.
---@param buf integer
function M.cleared(buf)
  left[buf], followed[buf].counts = nil, true
  followed[buf].windows = vim.tbl_filter(function(win)
    return not is_busy(win)
  end, vim.fn.win_findbuf(buf))
end

--- Change rows above those that windows show, so that what they show does not move.
---@param buf integer
---@param change fun(buf: integer, ...: any)
function M.above(buf, change, ...)
  local views = {} ---@type table<integer, table<string, integer>>
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    views[win] = vim.api.nvim_win_call(win, vim.fn.winsaveview)
  end
  local before = vim.api.nvim_buf_line_count(buf)
  change(buf, ...)
  local rows = vim.api.nvim_buf_line_count(buf) - before
  followed[buf].last = followed[buf].last + rows
  for win, view in pairs(rows ~= 0 and views or {}) do
    view.topline, view.lnum = math.max(1, view.topline + rows), math.max(1, view.lnum + rows)
    vim.api.nvim_win_call(win, function()
      vim.fn.winrestview(view)
    end)
  end
end

--- Scroll a window to the last row; to the top of a long welcome. If the row is taller than the
--- window, the cursor goes to its end, so that the window shows it.
---@param win integer
function M.go_to_end(win)
  if is_greeting(win) then
    vim.api.nvim_win_set_cursor(win, { 1, 0 })
    return
  end
  local buf, height = vim.api.nvim_win_get_buf(win), vim.api.nvim_win_get_height(win)
  local last = vim.api.nvim_buf_line_count(buf)
  local moved = last - vim.api.nvim_win_get_cursor(win)[1]
  local bytes = vim.fn.col({ last, '$' }, win) - 1
  local is_tall = bytes > vim.api.nvim_win_get_width(win) * height
  vim.api.nvim_win_set_cursor(win, { last, is_tall and bytes - 1 or 0 })
  vim.api.nvim_buf_del_extmark(buf, shown, win)
  if moved > height / 2 then
    vim.api.nvim_win_call(win, function()
      vim.cmd('normal! zb')
    end)
  end
end

--- Scroll back if rows below the end are empty because rows were removed. The current window stays
--- as it is: the user may have closed a block there.
---@param win integer
local function fill(win)
  if win ~= vim.api.nvim_get_current_win() then
    vim.api.nvim_win_call(win, function()
      vim.cmd('normal! zb')
    end)
  end
end

--- Called when a window was moved: the end is at its bottom again if it was before.
---@param win integer
function M.moved(win)
  local count = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win))
  if is_at_end(win, count) and not is_greeting(win) then
    fill(win)
  end
end

--- Called before a window shows another chat: remembers where it was in this one.
---@param win integer
function M.leave(win)
  local buf = vim.api.nvim_win_get_buf(win)
  local count = vim.api.nvim_buf_line_count(buf)
  local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
  left[buf] = { view = view, rows = count, at_end = is_at_end(win, count) }
end

--- Called when a window begins to show a transcript: goes where it was before, or to the end.
---@param win integer
function M.enter(win)
  local buf = vim.api.nvim_win_get_buf(win)
  local place = left[buf]
  left[buf] = nil
  if not place or place.at_end then
    M.go_to_end(win)
    return
  end
  vim.api.nvim_win_call(win, function()
    vim.fn.winrestview(place.view)
  end)
  set_shown(win, buf, math.min(place.rows, vim.api.nvim_buf_line_count(buf)) - 1)
end

--- Called after a transcript changed: scrolls the windows that were at its end to the new one.
---@param buf integer
---@return boolean counts the count of new rows may have changed for some window
function M.after(buf)
  local change, last = followed[buf], vim.api.nvim_buf_line_count(buf) - 1
  followed[buf] = nil
  local counts = change.counts == true
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if vim.list_contains(change.windows, win) then
      M.go_to_end(win)
      if last < change.last then
        fill(win)
      end
    else
      counts = counts or last ~= change.last
    end
  end
  return counts
end

--- The number of new rows that a window has not shown.
---@param win integer
---@return integer
function M.new_rows(win)
  local buf = vim.api.nvim_win_get_buf(win)
  local known = last_shown(win, buf)
  if not known then
    return 0
  end
  local last = vim.api.nvim_buf_line_count(buf) - 1
  local row = math.max(known, vim.fn.line('w$', win) - 1)
  if row >= last then
    vim.api.nvim_buf_del_extmark(buf, shown, win)
  elseif row > known then
    set_shown(win, buf, row)
  end
  return math.max(0, last - row)
end

--- Watch which rows a transcript's windows show, as long as there is its buffer.
---@param buf integer
---@param changed fun(win: integer) called when a window may have shown new rows
function M.attach(buf, changed)
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    callback = function()
      left[buf], followed[buf] = nil, nil
    end,
  })
  vim.api.nvim_create_autocmd('WinClosed', {
    buffer = buf,
    callback = function(event)
      vim.api.nvim_buf_del_extmark(buf, shown, assert(tonumber(event.match)))
    end,
  })
  vim.api.nvim_create_autocmd({ 'CursorMoved', 'WinScrolled' }, {
    buffer = buf,
    callback = function()
      for _, win in ipairs(vim.fn.win_findbuf(buf)) do
        if last_shown(win, buf) then
          changed(win)
        end
      end
    end,
  })
end

return M
