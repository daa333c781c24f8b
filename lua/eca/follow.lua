--- Every window on a transcript follows its end, if its cursor was there.
---
--- Rules kept here:
--- - A window whose cursor is not on the last row stays where it is, and counts the new rows.
--- - Nothing moves under a user who selects, searches or is in the middle of a command there.
--- - Neither the current window nor the mode is changed.
local M = {}

local behind = {} ---@type table<integer, integer> rows the buffer had when a window fell behind
local at_end = {} ---@type table<integer, table<integer, integer>> last row by window, by buffer

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

---@param win integer
---@param count integer rows of its buffer
---@return boolean
local function on_last_row(win, count)
  return vim.api.nvim_win_get_cursor(win)[1] >= count
end

--- Before a transcript changes: note which windows are at its end.
---@param buf integer
function M.before(buf)
  local rows = {} ---@type table<integer, integer>
  local count = vim.api.nvim_buf_line_count(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if on_last_row(win, count) and not is_busy(win) then
      rows[win] = count
    else
      behind[win] = behind[win] or count
    end
  end
  at_end[buf] = rows
end

--- The end of a row that is taller than its window is what the user wants to see.
---@param win integer
---@param last integer 1-based
---@return integer column
local function column_to_show(win, last)
  local bytes = vim.fn.col({ last, '$' }, win) - 1
  local cells = vim.api.nvim_win_get_width(win) * vim.api.nvim_win_get_height(win)
  return bytes > cells and bytes - 1 or 0
end

--- Show the last row of a window's buffer at the bottom of the window.
---@param win integer
function M.go_to_end(win)
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

--- After a transcript changed: bring those windows to its new end.
---@param buf integer
function M.after(buf)
  local rows = at_end[buf] or {}
  at_end[buf] = nil
  for win, row in pairs(rows) do
    local here = vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win) == buf
    if
      here
      and vim.api.nvim_win_get_cursor(win)[1] >= math.min(row, vim.api.nvim_buf_line_count(buf))
    then
      M.go_to_end(win)
    end
  end
end

--- How many rows came that a window, which does not follow, has not shown.
---@param win integer
---@return integer
function M.new_rows(win)
  local seen = behind[win]
  if not seen then
    return 0
  end
  return math.max(0, vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win)) - seen)
end

--- The cursor moved: at the end, the window follows again.
---@param buf integer
local function cursor_moved(buf)
  local win = vim.api.nvim_get_current_win()
  if behind[win] and on_last_row(win, vim.api.nvim_buf_line_count(buf)) then
    behind[win] = nil
    require('eca.winbar').refresh_window(win)
  end
end

--- Watch the cursor in a transcript's windows.
---@param buf integer
function M.attach(buf)
  vim.api.nvim_create_autocmd('CursorMoved', {
    buffer = buf,
    callback = function()
      cursor_moved(buf)
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
