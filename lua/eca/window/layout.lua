--- Opens and places the chat's two windows: splits, a tab page, or floats if there is no room.
---
--- Rules kept here:
--- - Window modifiers of the command (`:vertical`, `:tab`, `:topleft` …) take precedence over the
---   option.
--- - A split that does not fit becomes a float; the user never gets E36.
--- - Whatever size the screen gets, all windows are on it before it is drawn.
--- - Sizes are in cells; the height of a window includes its winbar.
local others = require('eca.ui.others')

local M = {}

--- Columns that a vertical split leaves to other windows.
M.LEAST_BESIDE = 15

---@alias eca.Layout 'right'|'left'|'bottom'|'top'|'float'|'tab'|'current'

---@class eca.Place
---@field layout eca.Layout
---@field near? boolean beside the current window, not at the edge of the screen

local NARROWEST, WIDEST = 60, 100
local LEAST_HEIGHT = 10

--- A screen with fewer columns has no room for code beside a chat of 60 columns.
local NARROW_SCREEN = 100
--- On a narrow screen, columns of the other windows, the separator included, and the least ones of
--- the chat. The hint in the input needs those.
local BESIDE, LEAST_CHAT = 40, 41
--- Columns that are left to other windows unless the user has set the option `width`.
local LEAST_BESIDE_DEFAULT = 30
--- Rows of a screen that is high enough for code above the chat.
local HIGH_SCREEN = 40

local SIDES = { right = 'right', left = 'left', bottom = 'below', top = 'above' }

--- Do a command's modifiers say where to open?
---@param mods table `smods`
---@return boolean
function M.has_mods(mods)
  return mods.vertical or mods.horizontal or mods.tab >= 0 or mods.split ~= ''
end

--- The layout if a command does not say: that of the option. By default the chat is below the code
--- on a narrow, high screen, because side by side neither could be read.
---@return eca.Layout
local function usual()
  local config = require('eca.config')
  local by_user = config.is_set('layout') or config.is_set('width')
  local below = not by_user and vim.o.columns < NARROW_SCREEN and vim.o.lines >= HIGH_SCREEN
  return below and 'bottom' or config.get().layout
end

--- Where to open: from the command's modifiers, else from the option.
---@param mods? table
---@return eca.Place
function M.choose(mods)
  if not mods or not M.has_mods(mods) then
    return { layout = usual() }
  end
  if mods.tab >= 0 then
    return { layout = 'tab' }
  end
  local first = mods.split == 'topleft' or mods.split == 'aboveleft'
  local near = mods.split == 'aboveleft' or mods.split == 'belowright'
  if mods.vertical then
    return { layout = first and 'left' or 'right', near = near }
  end
  return { layout = first and 'top' or 'bottom', near = near }
end

--- Columns of the chat when it is beside other windows.
---@param option number
---@return integer
function M.width(option)
  if option >= 1 then
    return math.floor(option)
  end
  local part = math.floor(vim.o.columns * option)
  local least = math.min(NARROWEST, math.max(LEAST_CHAT, vim.o.columns - BESIDE))
  return math.max(least, math.min(WIDEST, part))
end

--- Rows of the chat when it is above or below other windows.
---@return integer
local function height()
  return math.max(LEAST_HEIGHT, math.floor(vim.o.lines * 0.5))
end

---@param place eca.Place
---@return vim.api.keyset.win_config? nil: no room
local function split_config(place)
  local side = SIDES[place.layout]
  local floating = vim.api.nvim_win_get_config(0).relative ~= ''
  local config = { split = side, win = (place.near and not floating) and 0 or -1 }
  if side == 'left' or side == 'right' then
    local options = require('eca.config')
    config.width = M.width(options.get().width)
    local least = options.is_set('width') and M.LEAST_BESIDE or LEAST_BESIDE_DEFAULT
    return vim.o.columns - config.width >= least and config or nil
  end
  config.height = height()
  return vim.o.lines - config.height >= LEAST_HEIGHT and config or nil
end

--- The borders of floats that share the line between them. Characters of two cells are no border.
---@return string|string[] transcript, string|string[] input
---@return integer shared rows
local function borders()
  if vim.o.ambiwidth == 'double' then
    return 'rounded', 'rounded', 0
  end
  local upper = { '╭', '─', '╮', '│', '', '', '', '│' }
  return upper, { '├', '─', '┤', '│', '╯', '─', '╰', '│' }, 1
end

--- The configurations of floats: in the middle of the screen, the input below the transcript.
---@param input_height integer
---@return vim.api.keyset.win_config transcript, vim.api.keyset.win_config input
local function float_configs(input_height)
  local columns, lines = vim.o.columns, vim.o.lines - vim.o.cmdheight - 1
  local width = math.max(20, math.min(WIDEST, columns - 4))
  local total = math.max(8, math.floor(lines * 0.9))
  local above, below, shared = borders()
  input_height = math.min(input_height, math.max(2, total - 6))
  local upper = math.max(2, total - input_height - 4 + shared)
  local row = math.max(0, math.floor((lines - total) / 2))
  local base = {
    relative = 'editor',
    width = width,
    col = math.max(0, math.floor((columns - width) / 2) - 1),
    style = 'minimal',
    zindex = 40,
  }
  local input = { row = row + upper + 2 - shared, height = input_height, border = below }
  return vim.tbl_extend('error', base, { row = row, height = upper, border = above }),
    vim.tbl_extend('error', base, input)
end

--- Place open floats again, for another screen size or another height of the input.
---@param win integer the transcript's
---@param below integer the input's
---@param rows integer height of the input
function M.place_floats(win, below, rows)
  local upper, lower = float_configs(rows)
  upper.style, lower.style = nil, nil -- setting it again would reset the windows' options
  vim.api.nvim_win_set_config(win, upper)
  vim.api.nvim_win_set_config(below, lower)
end

---@param buf integer
---@param place eca.Place
---@return integer? window, nil when there is no room
local function open_one(buf, place)
  if place.layout == 'tab' then
    others.call('TabNew', vim.cmd.tabnew, { mods = { keepalt = true, noautocmd = false } })
    vim.bo.bufhidden = 'wipe'
  end
  if place.layout == 'tab' or place.layout == 'current' then
    vim.wo.winfixbuf = false
    others.show(0, buf)
    return vim.api.nvim_get_current_win()
  end
  -- Not entered, so that `<C-w>p` in the input returns to where the user was.
  local config = split_config(place)
  local opened, win = pcall(others.open_win, buf, false, config or {})
  return opened and win or nil
end

--- Make a float a split, or move a split; it scrolls as before. Neovim 0.10 ends, with no plugin,
--- too, if a window scrolls inside of a long line before it is drawn as a split.
---@param win integer
---@param config vim.api.keyset.win_config
---@return boolean worked false: there is no room
local function become_split(win, config)
  local view = vim.api.nvim_win_call(win, function()
    local before = vim.fn.winsaveview()
    vim.fn.winrestview({ lnum = 1, col = 0, topline = 1, skipcol = 0 })
    return before
  end)
  local worked = pcall(vim.api.nvim_win_set_config, win, config)
  vim.cmd.redraw()
  vim.api.nvim_win_call(win, function()
    vim.fn.winrestview(view)
  end)
  return worked
end

--- Move the windows of a chat to a split. The current window stays the same.
---@param win integer the transcript's
---@param below integer the input's
---@param place eca.Place
---@param rows integer height of the input
---@return boolean moved false: there is no room, or the place is not a split
function M.move(win, below, place, rows)
  local config = SIDES[place.layout] and split_config(place)
  if not config or not become_split(win, config) then
    return false
  end
  local moved = M.put_below(win, below, rows)
  if not moved then
    M.place_floats(win, below, rows)
  end
  return moved
end

--- Put the input below the transcript again.
---@param win integer the transcript's
---@param below integer the input's
---@param rows integer height of the input
---@return boolean moved
function M.put_below(win, below, rows)
  return become_split(below, { split = 'below', win = win, height = rows })
end

--- Put the transcript above the input again.
---@param win integer the transcript's
---@param below integer the input's
---@return boolean moved
function M.put_above(win, below)
  return become_split(win, { split = 'above', win = below })
end

--- The windows of a tab page that are no floats.
---@param tab integer
---@return integer[]
function M.splits(tab)
  return vim.tbl_filter(function(win)
    return vim.api.nvim_win_get_config(win).relative == ''
  end, vim.api.nvim_tabpage_list_wins(tab))
end

--- Give a chat above or below other windows its part of the screen's rows.
---@param win integer the transcript's
---@param rows integer height of the input
function M.share_rows(win, rows)
  if #M.splits(0) > 2 and vim.api.nvim_win_get_width(win) == vim.o.columns then
    vim.api.nvim_win_set_height(win, height() - rows - 1)
  end
end

--- Have the windows fit on the screen again. When that becomes smaller, Neovim leaves one with
--- 'winfixheight' in a column its rows, and one with 'winfixwidth' in a row its columns, with no
--- plugin, too: then some are beyond the screen, and drawing them breaks its memory.
function M.fit_screen()
  local last = vim.o.lines - vim.o.cmdheight - (vim.o.laststatus > 0 and 1 or 0)
  local is_ours, is_high, is_wide = false, false, false
  for _, win in ipairs(M.splits(0)) do
    local row, column = unpack(vim.api.nvim_win_get_position(win))
    local name = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win))
    is_ours = is_ours or vim.startswith(name, 'eca://')
    is_high = is_high or row + vim.api.nvim_win_get_height(win) > last
    is_wide = is_wide or column + vim.api.nvim_win_get_width(win) > vim.o.columns
  end
  if is_ours and is_high then
    vim.cmd.wincmd({ '=', mods = { vertical = true } })
  end
  if is_ours and is_wide then
    vim.cmd.wincmd({ '=', mods = { horizontal = true } })
  end
end

--- The file that the user comes from: that of the current window, else its alternate file.
---@return integer buf -1: there is none
local function last_file()
  local buf = vim.api.nvim_get_current_buf()
  return vim.bo[buf].buflisted and buf or vim.fn.bufnr('#')
end

--- Open the input below a transcript's window, and enter it.
---@param win integer the transcript's
---@param input integer buffer
---@param rows integer
---@param alternate? integer the buffer that `<C-^>` opens, default: the last file
---@return integer? window, nil when there is no room
function M.open_input(win, input, rows, alternate)
  local file = alternate or last_file()
  local config = { split = 'below', win = win, height = rows }
  local opened, below = pcall(others.open_win, input, true, config)
  if opened and file > 0 then
    vim.fn.setreg('#', file)
  end
  return opened and below or nil
end

--- Open the transcript above an input that is alone.
---@param win integer the input's
---@param buf integer
---@return integer? window, nil when there is no room
function M.open_transcript(win, buf)
  local opened, above = pcall(others.open_win, buf, false, { split = 'above', win = win })
  return opened and above or nil
end

--- Open both windows; the input is entered.
---@param buf integer
---@param input integer buffer
---@param place eca.Place
---@param input_height integer
---@return integer transcript window, integer input window
function M.open(buf, input, place, input_height)
  local file = last_file()
  local win = place.layout ~= 'float' and open_one(buf, place) or nil
  local below = win and M.open_input(win, input, input_height, file)
  if win and below then
    return win, below
  end
  if win then
    others.close(win)
  end
  local upper, lower = float_configs(input_height)
  win = others.open_win(buf, false, upper)
  return win, others.open_win(input, true, lower)
end

return M
