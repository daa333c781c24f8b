--- The two windows of a chat stay together, transcript above input, wherever they are moved.
---
--- Rules kept here:
--- - The one that the user is in stays where he put it; the other follows.
--- - A chat that floats for lack of room becomes a split as soon as there is some.
--- - The current window, its cursor and its mode stay.
local dress = require('eca.window.options')
local follow_end = require('eca.window.follow_end')
local heights = require('eca.window.input_height')
local layout = require('eca.window.layout')
local widths = require('eca.window.width')

local M = {}

---@param win integer
---@return boolean
local function floats(win)
  return vim.api.nvim_win_get_config(win).relative ~= ''
end

--- Is the input right under the transcript? Floats are placed by themselves, and a window that
--- was moved to another tab page is left there.
---@param pair eca.Pair with both windows
---@return boolean
function M.is_joined(pair)
  local upper, lower = pair.transcript, pair.input
  local apart = vim.api.nvim_win_get_tabpage(upper) ~= vim.api.nvim_win_get_tabpage(lower)
  if apart or floats(upper) and floats(lower) then
    return true
  end
  local row, column = unpack(vim.api.nvim_win_get_position(upper))
  local under = { row + vim.api.nvim_win_get_height(upper) + 1, column }
  return vim.deep_equal(vim.api.nvim_win_get_position(lower), under)
    and vim.api.nvim_win_get_width(lower) == vim.api.nvim_win_get_width(upper)
end

--- The windows stand somewhere else now.
---@param pair eca.Pair
local function settle(pair)
  dress.window(pair.transcript, 'chat')
  dress.window(pair.input, 'input')
  widths.moved(pair.transcript)
  heights.restore(pair)
  layout.share_rows(pair.transcript, heights.wanted(pair.input))
  follow_end.moved(pair.transcript)
end

---@param pair eca.Pair with both windows
---@param place eca.Place
---@return boolean moved
local function move(pair, place)
  local rows = heights.wanted(pair.input)
  local moved = layout.move(pair.transcript, pair.input, place, rows)
  if moved then
    settle(pair)
  end
  return moved
end

--- Put the windows of a chat where a command says, or where they belong.
---@param pair eca.Pair with both windows
---@param mods? table `smods` of the command
function M.move(pair, mods)
  if move(pair, layout.choose(mods)) then
    pair.mods = mods
  end
end

--- Where the user has put a window that takes all columns: at the top of the screen or the bottom.
---@param win integer
---@return eca.Place?
local function edge_of(win)
  local tabline = 1
  if vim.api.nvim_win_get_width(win) == vim.o.columns then
    return { layout = vim.api.nvim_win_get_position(win)[1] <= tabline and 'top' or 'bottom' }
  end
end

--- Put the window that the user has not moved to the other one.
---@param pair eca.Pair with both windows
local function join(pair)
  local here = vim.api.nvim_get_current_win()
  local by_input = here == pair.input
  local edge = (by_input or here == pair.transcript) and edge_of(here)
  if edge and move(pair, edge) then
    return
  end
  local moved = by_input and layout.put_above(pair.transcript, pair.input)
  if moved or layout.put_below(pair.transcript, pair.input, heights.wanted(pair.input)) then
    settle(pair)
  end
end

--- Undo what has torn the windows apart or taken their room, and give floats a place in the layout
--- if they want one.
---@param pair eca.Pair with both windows
function M.restore(pair)
  if floats(pair.transcript) and floats(pair.input) then
    M.move(pair, pair.mods)
  elseif not M.is_joined(pair) then
    join(pair)
  end
  if widths.restore(pair.transcript) then
    layout.share_rows(pair.transcript, heights.wanted(pair.input))
  end
  heights.restore(pair)
end

return M
