--- The width of a chat that stands beside other windows: its part of the screen, or what the user
--- gave it.
---
--- Rules kept here:
--- - A screen that shrinks and grows leaves no trace: the chat has its width again as soon as there
---   is room for it and for something beside it. Nor does a window that goes: when one below does,
---   Neovim may give a column of the chat to another.
--- - A width that the user gave is kept. It was the user when nothing was rearranged.
--- - Only windows of the current tab page are resized; others when the user comes there.
local layout = require('eca.window.layout')

local M = {}

---@class eca.Width columns of a transcript's window
---@field own? integer by the user, or by where it was opened; nil: its part of the screen
---@field given integer what it has
---@field beside boolean it does not take the whole width of the screen

---@alias eca.Rearranged 'windows'|'closed'|'screen' what did it

local widths = {} ---@type table<integer, eca.Width> by window
local RANKS = { windows = 1, closed = 2, screen = 3 }
local rearranged = {} ---@type table<integer, eca.Rearranged> windows to be looked at again

---@return integer columns of a chat that has its part of the screen
local function part()
  return layout.width(require('eca.config').get().width)
end

--- Take a width as one that is to be kept.
---@param width eca.Width
---@param columns integer
local function keep(width, columns)
  width.own = columns ~= part() and columns or nil
  width.given = columns
end

--- A window shows another buffer: it keeps its width from windows that come and go.
---@param win integer
function M.fix(win)
  local width = widths[win]
  if width then
    vim.wo[win][0].winfixwidth = width.beside
  end
end

--- A transcript's window was opened.
---@param win integer
function M.opened(win)
  local columns = vim.api.nvim_win_get_width(win)
  widths[win] = { given = columns, beside = columns < vim.o.columns }
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

--- A window stands somewhere else: it has its width there, too, unless it takes all columns.
---@param win integer
function M.moved(win)
  local width = widths[win]
  if width then
    width.beside = vim.api.nvim_win_get_width(win) < vim.o.columns
    M.fix(win)
    fit(win, width)
    width.given = vim.api.nvim_win_get_width(win)
  end
end

--- Windows came or went, or the screen has another size: the next change is not the user's.
---@param win integer
---@param what eca.Rearranged
function M.rearranged(win, what)
  local before = rearranged[win]
  if widths[win] and (not before or RANKS[what] > RANKS[before]) then
    rearranged[win] = what
  end
end

--- Give a window of the current tab page its columns again, if the screen took them, or a window
--- that went; one that came keeps those that it took.
---@param win integer
---@return boolean by_screen the screen has had another size
function M.restore(win)
  local width, what = widths[win], rearranged[win]
  if width then
    local had_its_own = width.given == (width.own or part())
    if what == 'screen' or (what == 'closed' and had_its_own) then
      fit(win, width)
    end
    width.given, rearranged[win] = vim.api.nvim_win_get_width(win), nil
  end
  return what == 'screen'
end

--- Widths have changed: keep what the user did.
---@param win integer
function M.resized(win)
  local width, columns = widths[win], vim.api.nvim_win_get_width(win)
  if width and columns ~= width.given and not rearranged[win] then
    keep(width, columns)
  end
end

--- A window is gone.
---@param win integer
function M.forget(win)
  widths[win], rearranged[win] = nil, nil
end

return M
