--- The height of an input's window: what its text asks for, or what the user gave it.
---
--- Rules kept here:
--- - What comes and goes around the chat leaves no trace: Neovim 0.10 gives the room of a closed
---   window to the input, 'winfixheight' or not, and any Neovim does so with 'cmdheight'.
--- - A height that the user gave is kept until the text asks for another one. It was the user when
---   nothing was rearranged, and he is in the chat or moved the line between its two windows.
--- - Only windows of the current tab page are resized; others when the user comes there.
local layout = require('eca.window.layout')

local M = {}

---@class eca.Height rows of an input's window, its winbar included
---@field asked integer by the text
---@field wanted integer by the text, or by the user since
---@field given integer what it has
---@field both integer rows of transcript and input together

local heights = {} ---@type table<integer, eca.Height> by window
local rearranged = {} ---@type table<integer, boolean> windows to be looked at again

---@param transcript integer
---@param input integer
---@return integer
local function rows_of_both(transcript, input)
  return vim.api.nvim_win_get_height(transcript) + vim.api.nvim_win_get_height(input)
end

---@param pair eca.Pair
---@return eca.Height?
local function height_of(pair)
  local valid = pair.input and vim.api.nvim_win_is_valid(pair.input)
  return valid and heights[pair.input] or nil
end

--- Note what a window has now.
---@param pair eca.Pair
---@param height eca.Height
local function note(pair, height)
  height.given = vim.api.nvim_win_get_height(pair.input)
  height.both = rows_of_both(pair.transcript, pair.input)
  rearranged[pair.input] = nil
end

--- The rows that a window should have, if there is room for them.
---@param win integer
---@return integer
function M.wanted(win)
  return heights[win] and heights[win].wanted or vim.api.nvim_win_get_height(win)
end

--- Give an input's window the height it should have; floats share theirs with the transcript.
---@param pair eca.Pair with both windows
function M.fit(pair)
  local rows = M.wanted(pair.input)
  if vim.api.nvim_win_get_config(pair.input).relative == '' then
    vim.api.nvim_win_set_height(pair.input, rows)
  else
    layout.place_floats(pair.transcript, pair.input, rows)
  end
end

--- Rows the input's window should have, its winbar included.
---@param buf integer
---@param win? integer
---@return integer
function M.of_text(buf, win)
  local limits = require('eca.config').get().input
  local rows = vim.api.nvim_buf_line_count(buf)
  if win then
    rows = vim.api.nvim_win_text_height(win, {}).all
  end
  return math.max(limits.min, math.min(limits.max, rows)) + 1
end

--- Rows above the first line, the prompts that wait, are shown only when the window is scrolled to
--- them.
---@param buf integer
function M.reveal_queue(buf)
  local chat = assert(require('eca.chat.buffers').of_buffer(buf))
  local rows = #require('eca.state.mirror').queue(chat.id)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_call(win, function()
      vim.fn.winrestview({ topline = 1, topfill = rows })
    end)
  end
end

--- A window has another size: rows stay empty under its text only where all of it is in sight.
--- Neovim scrolls to keep the cursor seen in a small window, and never back.
---@param win integer
function M.fill(win)
  local room = vim.api.nvim_win_get_height(win) - 1
  local topline = vim.fn.line('w0', win)
  local top = topline
  while top > 1 and vim.api.nvim_win_text_height(win, { start_row = top - 2 }).all <= room do
    top = top - 1
  end
  if top == 1 and topline > 1 then
    M.reveal_queue(vim.api.nvim_win_get_buf(win))
  elseif top < topline then
    vim.api.nvim_win_call(win, function()
      vim.fn.winrestview({ topline = top })
    end)
  end
end

--- The text of a window asks for rows. Has it asked for them before, the height is the user's.
---@param pair eca.Pair with both windows
---@param rows integer
function M.ask(pair, rows)
  local height = heights[pair.input]
  if height and height.asked == rows then
    return
  end
  height = { asked = rows, wanted = rows, given = rows, both = 0 }
  heights[pair.input] = height
  M.fit(pair)
  note(pair, height)
end

--- Give a window its rows again.
---@param pair eca.Pair with both windows
function M.restore(pair)
  local height = height_of(pair)
  if height then
    if vim.api.nvim_win_get_height(pair.input) ~= height.wanted then
      M.fit(pair)
    end
    note(pair, height)
  end
end

--- Windows came or went, or lines of the screen did: the next change of a height is not the user's.
---@param pair eca.Pair
function M.rearranged(pair)
  if height_of(pair) then
    rearranged[pair.input] = true
  end
end

---@param pair eca.Pair with both windows
---@param height eca.Height
---@return boolean
local function by_user(pair, height)
  local here = vim.api.nvim_get_current_win()
  local inside = here == pair.transcript or here == pair.input
  local moved = rows_of_both(pair.transcript, pair.input) == height.both
  return not rearranged[pair.input] and (inside or moved)
end

--- Heights have changed: keep what the user did, take back anything else.
---@param pair eca.Pair with both windows
function M.resized(pair)
  local height = height_of(pair)
  if not height then
    return
  end
  local rows = vim.api.nvim_win_get_height(pair.input)
  if rows ~= height.given and by_user(pair, height) then
    height.wanted = rows
  end
  M.restore(pair)
end

--- A window is gone.
---@param win integer
function M.forget(win)
  heights[win], rearranged[win] = nil, nil
end

return M
