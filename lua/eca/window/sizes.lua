--- Keeps the two windows of a chat together, with the sizes that belong to them, whatever happens
--- to other windows and to the screen.
---
--- Rules kept here:
--- - The input has the rows that its text needs, or those that the user gave it since then. Beside
---   other windows the chat has its part of the screen's columns, or those that the user gave it.
--- - What others do is undone when Neovim has settled: Neovim 0.10 gives the room of a closed
---   window to the input even with 'winfixheight', and every version does so when 'cmdheight'
---   changes. But a new window keeps the columns that it took, until the screen changes.
--- - Of the two windows the one that the user moves stays there; the other follows. A chat that
---   floats for lack of room becomes a split as soon as there is room.
--- - Only windows of the current tab page are resized; others when the user goes there. The current
---   window, its cursor and its mode stay.
local follow_end = require('eca.window.follow_end')
local layout = require('eca.window.layout')
local winbar = require('eca.window.winbar')
local window_options = require('eca.window.options')

local M = {}

---@alias eca.Rearranged 'windows'|'closed'|'screen' why windows have other sizes

---@class eca.Sizes
---@field needed integer rows that the input's text needs, its winbar included
---@field wanted integer rows: those, or what the user gave the input since then
---@field rows integer of the input when the sizes were right last
---@field both integer rows of both windows together then
---@field own? integer columns from the user, or where it was opened; nil: its part of the screen
---@field columns integer when the sizes were right last
---@field beside boolean the chat is narrower than the screen
---@field why? eca.Rearranged windows were rearranged: the next change is not the user's

local RANKS = { windows = 1, closed = 2, screen = 3 }

---@param win integer
---@return boolean
local function floats(win)
  return vim.api.nvim_win_get_config(win).relative ~= ''
end

---@return integer columns of a chat that has its part of the screen
local function part()
  return layout.width(require('eca.config').get().width)
end

--- Set the options of a window that shows the chat's buffer now.
---@param pair eca.Pair
---@param name 'transcript'|'input'
function M.dress(pair, name)
  window_options.set(pair[name], name == 'input' and 'input' or 'chat')
  winbar.refresh_window(pair[name])
  if name == 'transcript' then
    vim.wo[pair.transcript][0].winfixwidth = pair.sizes.beside
  end
end

--- Note that the windows have the right sizes.
---@param pair eca.Pair
local function note(pair)
  local sizes = pair.sizes
  if pair.transcript then
    sizes.columns = vim.api.nvim_win_get_width(pair.transcript)
  end
  if pair.transcript and pair.input then
    sizes.rows = vim.api.nvim_win_get_height(pair.input)
    sizes.both = sizes.rows + vim.api.nvim_win_get_height(pair.transcript)
  end
end

--- Set the rows of the input to those it should have. Floats share theirs with the transcript.
---@param pair eca.Pair with both windows
function M.fit_rows(pair)
  local rows = pair.sizes.wanted
  if floats(pair.input) then
    layout.place_floats(pair.transcript, pair.input, rows)
  elseif vim.api.nvim_win_get_height(pair.input) ~= rows then
    vim.api.nvim_win_set_height(pair.input, rows)
  end
end

--- Set the columns of the chat to those it should have.
---@param pair eca.Pair
local function fit_columns(pair)
  local win, sizes = pair.transcript, pair.sizes
  if sizes.beside and not floats(win) then
    local room = vim.o.columns - layout.LEAST_BESIDE - 1
    local most = math.max(room, vim.api.nvim_win_get_width(win))
    vim.api.nvim_win_set_width(win, math.min(sizes.own or part(), most))
  end
end

---@param sizes eca.Sizes
---@param columns integer that the chat should keep
local function keep_columns(sizes, columns)
  sizes.own = columns ~= part() and columns or nil
end

--- The rows that an input's text needs, the winbar included.
---@param buf integer
---@param win? integer
---@return integer
function M.of_text(buf, win)
  local limits = require('eca.config').get().input
  local rows = win and vim.api.nvim_win_text_height(win, {}).all or vim.api.nvim_buf_line_count(buf)
  return math.max(limits.min, math.min(limits.max, rows)) + 1
end

--- Called when both windows were opened.
---@param pair eca.Pair
---@param rows integer of the input
function M.opened(pair, rows)
  local columns = vim.api.nvim_win_get_width(pair.transcript)
  ---@type eca.Sizes
  local sizes = { needed = rows, wanted = rows, beside = columns < vim.o.columns }
  if sizes.beside and not floats(pair.transcript) then
    keep_columns(sizes, columns)
  end
  pair.sizes = sizes
  M.dress(pair, 'transcript')
  M.dress(pair, 'input')
  M.fit_rows(pair)
  note(pair)
end

--- Set the rows of the input to those that its text needs. If the need has not changed, the height
--- that the user set stays.
---@param pair eca.Pair with both windows
---@param rows integer
---@param is_new? boolean one of the windows is
function M.ask_rows(pair, rows, is_new)
  if is_new or pair.sizes.needed ~= rows then
    pair.sizes.needed, pair.sizes.wanted = rows, rows
    M.fit_rows(pair)
    note(pair)
  end
end

--- Called when windows open or close, or the screen changes: the next change is not the user's.
---@param pair eca.Pair
---@param why eca.Rearranged
function M.rearranged(pair, why)
  local before = pair.sizes.why
  if not before or RANKS[why] > RANKS[before] then
    pair.sizes.why = why
  end
end

--- Is the input right below the transcript? True for floats, which are placed by their
--- configuration, and for windows in different tab pages, which stay there.
---@param pair eca.Pair with both windows
---@return boolean
local function is_joined(pair)
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
local function moved(pair)
  pair.sizes.beside = vim.api.nvim_win_get_width(pair.transcript) < vim.o.columns
  M.dress(pair, 'transcript')
  M.dress(pair, 'input')
  fit_columns(pair)
  M.fit_rows(pair)
  layout.share_rows(pair.transcript, pair.sizes.wanted)
  note(pair)
  follow_end.moved(pair.transcript)
end

---@param pair eca.Pair with both windows
---@param place eca.Place
---@return boolean moved
local function move_to(pair, place)
  local is_moved = layout.move(pair.transcript, pair.input, place, pair.sizes.wanted)
  if is_moved then
    moved(pair)
  end
  return is_moved
end

--- Move the windows of a chat to where a command says, else to where the option says.
---@param pair eca.Pair with both windows
---@param mods? table `smods` of the command
function M.move(pair, mods)
  if move_to(pair, layout.choose(mods)) then
    pair.mods = mods
  end
end

--- Move the other window to the one that the user moved: to an edge of the screen, if that one
--- takes all its columns.
---@param pair eca.Pair with both windows
local function join(pair)
  local here, tabline = vim.api.nvim_get_current_win(), 1
  local by_input = here == pair.input
  local by_user = by_input or here == pair.transcript
  if by_user and vim.api.nvim_win_get_width(here) == vim.o.columns then
    local is_top = vim.api.nvim_win_get_position(here)[1] <= tabline
    if move_to(pair, { layout = is_top and 'top' or 'bottom' }) then
      return
    end
  end
  local is_moved = by_input and layout.put_above(pair.transcript, pair.input)
  if is_moved or layout.put_below(pair.transcript, pair.input, pair.sizes.wanted) then
    moved(pair)
  end
end

--- Restore the columns that the chat lost to the screen or to a closed window, or got from others.
---@param pair eca.Pair
local function restore_columns(pair)
  local sizes, why = pair.sizes, pair.sizes.why
  local was_right = sizes.columns == (sizes.own or part())
  local is_wider = vim.api.nvim_win_get_width(pair.transcript) > sizes.columns
  if why == 'screen' or (why == 'closed' and was_right) or (why and is_wider) then
    fit_columns(pair)
  end
end

--- Scroll an input's windows so that the queued prompts, virtual rows above the first line, are
--- visible.
---@param buf integer
function M.reveal_queue(buf)
  local chat = assert(require('eca.chat.buffers').of_buffer(buf))
  local rows = #require('eca.state.mirror').chat(chat.id).queue
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_call(win, function()
      vim.fn.winrestview({ topline = 1, topfill = rows })
    end)
  end
end

--- Scroll an input back if rows below its text are empty. Neovim scrolls down to keep the cursor
--- visible in a small window, and never back.
---@param win integer
local function fill(win)
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

--- Called when Neovim has settled after windows were rearranged: rejoin the windows, and restore
--- their sizes.
---@param pair eca.Pair with a transcript
function M.restore(pair)
  if pair.input and floats(pair.transcript) and floats(pair.input) then
    M.move(pair, pair.mods)
  elseif pair.input and not is_joined(pair) then
    join(pair)
  end
  restore_columns(pair)
  if pair.input then
    if pair.sizes.why == 'screen' then
      layout.share_rows(pair.transcript, pair.sizes.wanted)
    end
    M.fit_rows(pair)
    fill(pair.input)
  end
  note(pair)
  pair.sizes.why = nil
end

--- Called when sizes have changed: keeps a change by the user, undoes any other. A change of rows
--- is the user's if the cursor is in the chat, or the line between its two windows moved; one of
--- columns, unless Neovim has widened the window that the user entered.
---@param pair eca.Pair with a transcript
---@return boolean whole false: the windows are apart
function M.resized(pair)
  local sizes, both = pair.sizes, pair.input ~= nil
  if both and not is_joined(pair) then
    return false
  end
  local columns = vim.api.nvim_win_get_width(pair.transcript)
  local is_widened = vim.api.nvim_win_get_width(0) == vim.o.winwidth
  if columns ~= sizes.columns and not sizes.why and not is_widened then
    keep_columns(sizes, columns)
    sizes.columns = columns
  end
  if both then
    local rows, here = vim.api.nvim_win_get_height(pair.input), vim.api.nvim_get_current_win()
    local total = rows + vim.api.nvim_win_get_height(pair.transcript)
    local is_inside = here == pair.transcript or here == pair.input
    if rows ~= sizes.rows and not sizes.why and (is_inside or total == sizes.both) then
      sizes.wanted = rows
    end
    M.fit_rows(pair)
    sizes.rows = vim.api.nvim_win_get_height(pair.input)
    sizes.both = sizes.rows + vim.api.nvim_win_get_height(pair.transcript)
    fill(pair.input)
  end
  return true
end

return M
