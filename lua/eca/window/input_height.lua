--- The height of an input's window: what its text needs, or what the user gave it.
---
--- Rules kept here:
--- - Windows that open and close around the chat do not change it. Neovim 0.10 gives the room of a
---   closed window to the input even with 'winfixheight', and every version does so when
---   'cmdheight' changes.
--- - A height that the user gave is kept until the text needs another one. A change is the user's
---   if nothing was rearranged, and the cursor is in the chat or the line between its two windows
---   moved.
--- - Only windows of the current tab page are resized; others when the user goes there.
local layout = require('eca.window.layout')

local M = {}

---@class eca.Height rows of an input's window, its winbar included
---@field needed integer by the text
---@field wanted integer by the text, or by the user since then
---@field current integer
---@field both integer rows of transcript and input together

local heights = {} ---@type table<integer, eca.Height> by window
local rearranged = {} ---@type table<integer, boolean> windows whose next change is not the user's

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

--- Record the current heights.
---@param pair eca.Pair
---@param height eca.Height
local function record(pair, height)
  height.current = vim.api.nvim_win_get_height(pair.input)
  height.both = rows_of_both(pair.transcript, pair.input)
  rearranged[pair.input] = nil
end

--- The rows that a window should have.
---@param win integer
---@return integer
function M.wanted(win)
  return heights[win] and heights[win].wanted or vim.api.nvim_win_get_height(win)
end

--- Give an input's window the rows it should have. Floats share their rows with the transcript.
---@param pair eca.Pair with both windows
function M.fit(pair)
  local rows = M.wanted(pair.input)
  if vim.api.nvim_win_get_config(pair.input).relative == '' then
    vim.api.nvim_win_set_height(pair.input, rows)
  else
    layout.place_floats(pair.transcript, pair.input, rows)
  end
end

--- The rows that an input's text needs, the winbar included.
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

--- Scroll an input's windows so that the queued prompts, virtual rows above the first line, are
--- visible.
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

--- Called when a window has another size: scrolls back if rows below the text are empty. Neovim
--- scrolls down to keep the cursor visible in a small window, and never back.
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

--- Give a window the rows that its text needs. If the need has not changed, the height that the
--- user set stays.
---@param pair eca.Pair with both windows
---@param rows integer
function M.ask(pair, rows)
  local height = heights[pair.input]
  if height and height.needed == rows then
    return
  end
  height = { needed = rows, wanted = rows, current = rows, both = 0 }
  heights[pair.input] = height
  M.fit(pair)
  record(pair, height)
end

--- Restore the rows that a window should have.
---@param pair eca.Pair with both windows
function M.restore(pair)
  local height = height_of(pair)
  if height then
    if vim.api.nvim_win_get_height(pair.input) ~= height.wanted then
      M.fit(pair)
    end
    record(pair, height)
  end
end

--- Called when windows open or close, or the screen changes: the next change of a height is not the
--- user's.
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

--- Called when heights have changed: keeps a change by the user, undoes any other.
---@param pair eca.Pair with both windows
function M.resized(pair)
  local height = height_of(pair)
  if not height then
    return
  end
  local rows = vim.api.nvim_win_get_height(pair.input)
  if rows ~= height.current and by_user(pair, height) then
    height.wanted = rows
  end
  M.restore(pair)
end

--- Called when a window was closed.
---@param win integer
function M.forget(win)
  heights[win], rearranged[win] = nil, nil
end

return M
