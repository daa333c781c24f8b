--- Keeps the two windows of a chat together, transcript above input, wherever they are moved.
---
--- Rules kept here:
--- - The window that the user is in stays where they moved it; the other follows.
--- - A chat that floats for lack of room becomes a split as soon as there is room.
--- - The current window, its cursor and its mode stay.
local follow_end = require('eca.window.follow_end')
local input_height = require('eca.window.input_height')
local layout = require('eca.window.layout')
local width = require('eca.window.width')
local window_options = require('eca.window.options')

local M = {}

---@param win integer
---@return boolean
local function floats(win)
  return vim.api.nvim_win_get_config(win).relative ~= ''
end

--- Is the input right below the transcript? True for floats, which are placed by their
--- configuration, and for windows in different tab pages, which stay there.
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

--- Called when the windows were moved.
---@param pair eca.Pair
local function settle(pair)
  window_options.set(pair.transcript, 'chat')
  window_options.set(pair.input, 'input')
  width.moved(pair.transcript)
  input_height.restore(pair)
  layout.share_rows(pair.transcript, input_height.wanted(pair.input))
  follow_end.moved(pair.transcript)
end

---@param pair eca.Pair with both windows
---@param place eca.Place
---@return boolean moved
local function move(pair, place)
  local rows = input_height.wanted(pair.input)
  local moved = layout.move(pair.transcript, pair.input, place, rows)
  if moved then
    settle(pair)
  end
  return moved
end

--- Move the windows of a chat to where a command says, else to where the option says.
---@param pair eca.Pair with both windows
---@param mods? table `smods` of the command
function M.move(pair, mods)
  if move(pair, layout.choose(mods)) then
    pair.mods = mods
  end
end

--- The edge of the screen, top or bottom, to which the user moved a window that takes all columns.
---@param win integer
---@return eca.Place?
local function edge_of(win)
  local tabline = 1
  if vim.api.nvim_win_get_width(win) == vim.o.columns then
    return { layout = vim.api.nvim_win_get_position(win)[1] <= tabline and 'top' or 'bottom' }
  end
end

--- Move the other window to the one that the user moved.
---@param pair eca.Pair with both windows
local function join(pair)
  local here = vim.api.nvim_get_current_win()
  local by_input = here == pair.input
  local edge = (by_input or here == pair.transcript) and edge_of(here)
  if edge and move(pair, edge) then
    return
  end
  local moved = by_input and layout.put_above(pair.transcript, pair.input)
  if moved or layout.put_below(pair.transcript, pair.input, input_height.wanted(pair.input)) then
    settle(pair)
  end
end

--- Rejoin windows that were separated, restore their sizes, and turn floats into a split if there
--- is room now.
---@param pair eca.Pair with both windows
function M.restore(pair)
  if floats(pair.transcript) and floats(pair.input) then
    M.move(pair, pair.mods)
  elseif not M.is_joined(pair) then
    join(pair)
  end
  if width.restore(pair.transcript) then
    layout.share_rows(pair.transcript, input_height.wanted(pair.input))
  end
  input_height.restore(pair)
end

return M
