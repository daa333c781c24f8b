--- The width of a chat beside other windows: its part of the screen, or what the user gave it.
---
--- Rules kept here:
--- - When the screen shrinks and grows again, the chat gets its width back as soon as there is room
---   for it and for something beside it. The same when a window closes: Neovim may then give
---   columns of the chat to another window. It gets no wider by windows that open and move, such as
---   a file tree that is split off the input.
--- - A width that the user gave is kept. A change is the user's if nothing was rearranged, and
---   Neovim has not widened the window that the user entered to 'winwidth'.
--- - Only windows of the current tab page are resized; others when the user goes there.
local layout = require('eca.window.layout')

local M = {}

---@class eca.Width columns of a transcript's window
---@field own? integer from the user, or from where it was opened; nil: its part of the screen
---@field current integer
---@field beside boolean it is narrower than the screen

---@alias eca.Rearranged 'windows'|'closed'|'screen' why windows were rearranged

local widths = {} ---@type table<integer, eca.Width> by window
local RANKS = { windows = 1, closed = 2, screen = 3 }
--- Windows whose next change of width is not the user's.
local rearranged = {} ---@type table<integer, eca.Rearranged>

---@return integer columns of a chat that has its part of the screen
local function part()
  return layout.width(require('eca.config').get().width)
end

--- Remember a width as the one to keep.
---@param width eca.Width
---@param columns integer
local function keep(width, columns)
  width.own = columns ~= part() and columns or nil
  width.current = columns
end

--- Called when a window shows another buffer: sets 'winfixwidth' again.
---@param win integer
function M.fix(win)
  local width = widths[win]
  if width then
    vim.wo[win][0].winfixwidth = width.beside
  end
end

--- Called when a transcript's window was opened.
---@param win integer
function M.opened(win)
  local columns = vim.api.nvim_win_get_width(win)
  widths[win] = { current = columns, beside = columns < vim.o.columns }
  if widths[win].beside and vim.api.nvim_win_get_config(win).relative == '' then
    keep(widths[win], columns)
  end
  M.fix(win)
end

---@param win integer
---@param width eca.Width
local function fit(win, width)
  if not width.beside or vim.api.nvim_win_get_config(win).relative ~= '' then
    return
  end
  local room = vim.o.columns - layout.LEAST_BESIDE - 1
  local most = math.max(room, vim.api.nvim_win_get_width(win))
  vim.api.nvim_win_set_width(win, math.min(width.own or part(), most))
end

--- Called when a window was moved: it gets its width there, too, unless it takes all columns.
---@param win integer
function M.moved(win)
  local width = widths[win]
  if width then
    width.beside = vim.api.nvim_win_get_width(win) < vim.o.columns
    M.fix(win)
    fit(win, width)
    width.current = vim.api.nvim_win_get_width(win)
  end
end

--- Called when windows open or close, or the screen has another size: the next change is not the
--- user's.
---@param win integer
---@param what eca.Rearranged
function M.rearranged(win, what)
  local before = rearranged[win]
  if widths[win] and (not before or RANKS[what] > RANKS[before]) then
    rearranged[win] = what
  end
end

--- Restore the columns of a window that it lost to the screen or to a closed window, or got from
--- others. A new window keeps the columns it took.
---@param win integer
---@return boolean by_screen the screen has changed its size
function M.restore(win)
  local width, what = widths[win], rearranged[win]
  if width then
    local was_right = width.current == (width.own or part())
    local is_wider = vim.api.nvim_win_get_width(win) > width.current
    if what == 'screen' or (what == 'closed' and was_right) or (what and is_wider) then
      fit(win, width)
    end
    width.current, rearranged[win] = vim.api.nvim_win_get_width(win), nil
  end
  return what == 'screen'
end

--- Has Neovim widened the current window?
---@return boolean
local function is_widened()
  return vim.api.nvim_win_get_width(0) == vim.o.winwidth
end

--- Called when widths have changed: keeps a change by the user.
---@param win integer
function M.resized(win)
  local width, columns = widths[win], vim.api.nvim_win_get_width(win)
  if width and columns ~= width.current and not rearranged[win] and not is_widened() then
    keep(width, columns)
  end
end

--- Called when a window was closed.
---@param win integer
function M.forget(win)
  widths[win], rearranged[win] = nil, nil
end

return M
