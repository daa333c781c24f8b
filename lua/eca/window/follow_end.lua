--- Windows on a transcript scroll with its end, if their cursor was there.
---
--- Rules kept here:
--- - A window whose cursor is not on the last row stays where it is, and counts the new rows that
---   it has not shown.
--- - The agent's welcome is shown from its top if there is not room for all of it.
--- - Nothing moves while the user selects, searches or is in the middle of a command in the window.
--- - The current window and the mode never change.
local M = {}

local behind = {} ---@type table<integer, integer> rows that a window has not shown
local added = {} ---@type table<integer, integer> rows since `before`, by buffer
local at_end = {} ---@type table<integer, table<integer, integer>> last row by window, by buffer
local size = {} ---@type table<integer, integer> rows before the change, by buffer

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

--- Called before a transcript changes: notes which windows are at its end.
---@param buf integer
function M.before(buf)
  local rows = {} ---@type table<integer, integer>
  local count = vim.api.nvim_buf_line_count(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if is_at_end(win, count) and not is_busy(win) then
      rows[win] = vim.api.nvim_win_get_cursor(win)[1]
    end
  end
  at_end[buf], size[buf] = rows, count
end

--- Count new rows. Not called for rows of a block that the user opens.
---@param buf integer
---@param rows integer
function M.added(buf, rows)
  added[buf] = (added[buf] or 0) + rows
end

--- Called when rows were removed: windows at the end stay there, so many rows higher.
---@param buf integer
---@param rows integer
function M.removed(buf, rows)
  for win, row in pairs(at_end[buf] or {}) do
    at_end[buf][win] = row - rows
  end
end

--- Called when the transcript was emptied: counts begin again, and every window is at the end, also
--- that of a reader, whose rows are gone.
---@param buf integer
function M.cleared(buf)
  added[buf], left[buf] = nil, nil
  local rows = at_end[buf] or {}
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    behind[win] = nil
    rows[win] = not is_busy(win) and 1 or nil
  end
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
  for win, view in pairs(rows ~= 0 and views or {}) do
    view.topline, view.lnum = math.max(1, view.topline + rows), math.max(1, view.lnum + rows)
    vim.api.nvim_win_call(win, function()
      vim.fn.winrestview(view)
    end)
  end
end

--- The cursor column in the last row: its end if the row is taller than the window, so that the
--- window shows the end.
---@param win integer
---@param last integer 1-based
---@return integer column
local function column_to_show(win, last)
  local bytes = vim.fn.col({ last, '$' }, win) - 1
  local cells = vim.api.nvim_win_get_width(win) * vim.api.nvim_win_get_height(win)
  return bytes > cells and bytes - 1 or 0
end

--- Scroll a window to the last row; to the top of a long welcome.
---@param win integer
function M.go_to_end(win)
  if is_greeting(win) then
    vim.api.nvim_win_set_cursor(win, { 1, 0 })
    return
  end
  local last = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win))
  local moved = last - vim.api.nvim_win_get_cursor(win)[1]
  vim.api.nvim_win_set_cursor(win, { last, column_to_show(win, last) })
  behind[win] = nil
  if moved > vim.api.nvim_win_get_height(win) / 2 then
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
  local rows = vim.api.nvim_buf_line_count(buf)
  local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
  left[buf] = { view = view, rows = rows, at_end = is_at_end(win, rows) }
end

--- Called when a window begins to show a transcript: goes where it was before, or to the end.
---@param win integer
function M.enter(win)
  local buf = vim.api.nvim_win_get_buf(win)
  local place = left[buf]
  behind[win], left[buf], added[buf] = nil, nil, nil
  if not place or place.at_end then
    M.go_to_end(win)
    return
  end
  vim.api.nvim_win_call(win, function()
    vim.fn.winrestview(place.view)
  end)
  behind[win] = math.max(0, vim.api.nvim_buf_line_count(buf) - place.rows)
end

--- Was this window at the end, and has its cursor not moved away?
---@param win integer
---@param row? integer the last row before the change
---@param count integer rows now
---@return boolean
local function follows(win, row, count)
  return row ~= nil and vim.api.nvim_win_get_cursor(win)[1] >= math.min(row, count)
end

--- Called after a transcript changed: scrolls the windows that were at its end to the new one.
---@param buf integer
---@return true? counts the count of new rows has changed for some window
function M.after(buf)
  local rows, new = at_end[buf] or {}, added[buf] or 0
  at_end[buf], added[buf] = nil, nil
  local count = vim.api.nvim_buf_line_count(buf)
  local shrunk = count < (size[buf] or 0)
  local counts ---@type true?
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local before = behind[win]
    if follows(win, rows[win], count) then
      M.go_to_end(win)
      if shrunk then
        fill(win)
      end
    elseif new > 0 then
      behind[win] = (behind[win] or 0) + new
    end
    counts = behind[win] ~= before or counts
  end
  return counts
end

--- The number of new rows that a window has not shown. Rows it shows now do not count any more.
---@param win integer
---@return integer
function M.new_rows(win)
  if behind[win] then
    local below = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win))
      - vim.fn.line('w$', win)
    behind[win] = below > 0 and math.min(behind[win], below) or nil
  end
  return behind[win] or 0
end

--- Called when the windows of a transcript may show other rows: reports changed counts of new rows.
---@param buf integer
---@param changed fun(win: integer)
local function moved(buf, changed)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local before = behind[win]
    if before and M.new_rows(win) ~= before then
      changed(win)
    end
  end
end

--- Watch which rows a transcript's windows show.
---@param buf integer
---@param changed fun(win: integer) called when a window has shown new rows
function M.attach(buf, changed)
  vim.api.nvim_create_autocmd({ 'CursorMoved', 'WinScrolled' }, {
    buffer = buf,
    callback = function()
      moved(buf, changed)
    end,
  })
  vim.api.nvim_create_autocmd('BufWinLeave', {
    buffer = buf,
    callback = function()
      for win in pairs(behind) do
        if not vim.api.nvim_win_is_valid(win) then
          behind[win] = nil
        end
      end
    end,
  })
end

return M
