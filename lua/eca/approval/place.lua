--- Where the approval float goes: a corner in which it hides nothing the user works with.
---
--- Rules kept here:
--- - It is placed over the chat if that is on the screen, else anywhere; the lower right corner
---   first.
--- - As long as any corner has room, it never hides the cursor line, a list or another low window
---   the user is in, or the chat's input: its text scrolls instead. If no corner is left, it hides
---   the list first and the cursor line last.
--- - The user reads the request's block where it is on the screen, so the float hides neither that
---   nor the agent's text before it. If the block shows all of the request, the float does not
---   repeat it.
--- - Rows and columns are 0-based cells of the screen; the end of an area is exclusive.
local windows = require('eca.window')

local M = {}

--- The window before its text is measured.
M.FIRST = { relative = 'editor', row = 0, col = 0, width = 1, height = 1, border = 'rounded' }
M.FIRST.style, M.FIRST.zindex, M.FIRST.noautocmd = 'minimal', 60, true

local MOST_ROWS = 16
local MOST_COLUMNS = 84
local LEAST_COLUMNS = 20
--- A corner of the chat is good enough if it has room for this many rows of text.
local ENOUGH_ROWS = 6
--- Over a narrower chat too many lines would wrap, so other places are tried. Over a lower one the
--- float may extend above the chat.
local LEAST_WINDOW = { columns = 56, rows = 8 }
--- With fewer columns beside the chat nearly every line would wrap.
local LEAST_BESIDE = 36
--- Fewer rows do not show what is asked: rather than that, part of a list is hidden.
local LEAST_ROWS = 3
--- A user looks at all of a window this low: a list, a preview, a terminal.
local LOW_WINDOW = 10
local BORDER = 2
--- Rows before the request's block, at most, in which the agent says why it asks.
local EXPLANATION_ROWS = 6

---@class eca.ScreenArea
---@field top integer
---@field bottom integer
---@field left integer
---@field right integer

---@alias eca.Corner 'SE'|'NE'|'SW'|'NW'

---@class eca.PromptPlace
---@field area eca.ScreenArea that the float covers with its border
---@field width integer of the text
---@field rows integer rows of the text that fit
---@field missing integer rows of the text that do not fit
---@field short? boolean show only our own rows, since the request's block shows the rest

---@class eca.PromptWant
---@field columns integer of the text
---@field rows fun(width: integer): integer, integer rows of the text at a width, and of our own
---@field block? eca.SeenBlock the request's block on the screen

--- The area of a window.
---@param win integer
---@return eca.ScreenArea
function M.area_of(win)
  local corner = vim.api.nvim_win_get_position(win)
  return {
    top = corner[1],
    bottom = corner[1] + vim.api.nvim_win_get_height(win),
    left = corner[2],
    right = corner[2] + vim.api.nvim_win_get_width(win),
  }
end

--- The screen without tab line, last status line and command line.
---@return eca.ScreenArea
function M.screen()
  local tabs = vim.o.showtabline
  local tabline = tabs == 2 or (tabs == 1 and #vim.api.nvim_list_tabpages() > 1)
  local bottom = vim.o.lines - vim.o.cmdheight - 1
  return { top = tabline and 1 or 0, bottom = bottom, left = 0, right = vim.o.columns }
end

---@param win integer
---@return boolean
local function is_panel(win)
  return vim.bo[vim.api.nvim_win_get_buf(win)].filetype == 'eca-panel'
end

--- The screen row of a window's cursor, as wide as the window; in a panel all of its line.
---@param win integer
---@return eca.ScreenArea
local function cursor_line(win)
  local cursor = vim.api.nvim_win_get_cursor(win)
  local row = vim.fn.screenpos(win, cursor[1], cursor[2] + 1).row - 1
  local area = M.area_of(win)
  area.top, area.bottom = row, row + 1
  if is_panel(win) then
    local buf = vim.api.nvim_win_get_buf(win)
    local line = vim.api.nvim_buf_get_lines(buf, cursor[1] - 1, cursor[1], false)[1] or ''
    local first = vim.fn.screenpos(win, cursor[1], 1).row - 1
    area.top = first >= 0 and math.min(first, row) or row
    area.bottom = math.max(row + 1, vim.fn.screenpos(win, cursor[1], math.max(1, #line)).row)
  end
  return area
end

--- What the user looks at in a window: all of a list or of a low window, else the cursor line.
---@param win integer
---@return eca.ScreenArea
local function looked_at(win)
  local list = vim.bo[vim.api.nvim_win_get_buf(win)].buftype == 'quickfix'
  if list or is_panel(win) or vim.api.nvim_win_get_height(win) <= LOW_WINDOW then
    return M.area_of(win)
  end
  return cursor_line(win)
end

---@param left eca.ScreenArea
---@param right eca.ScreenArea
---@return boolean
local function overlap(left, right)
  return left.top < right.bottom
    and right.top < left.bottom
    and left.left < right.right
    and right.left < left.right
end

--- The free part of an area at one of its corners, for a float of a width.
---@param area eca.ScreenArea
---@param corner eca.Corner
---@param width integer
---@param kept eca.ScreenArea[]
---@return eca.ScreenArea
local function free_corner(area, corner, width, kept)
  local free = vim.deepcopy(area)
  if corner:sub(2) == 'E' then
    free.left = math.max(free.left, free.right - width)
  else
    free.right = math.min(free.right, free.left + width)
  end
  for _, other in ipairs(kept) do
    if overlap(free, other) and corner:sub(1, 1) == 'S' then
      free.top = other.bottom
    elseif overlap(free, other) then
      free.bottom = other.top
    end
  end
  return free
end

---@alias eca.Corners { [1]: eca.ScreenArea, [2]: eca.Corner[] } an area and corners of it to try

--- Where the float may be, the best first: over the chat, whichever it is, also over its winbar,
--- anywhere, beside the chat.
---@return eca.Corners[]
local function areas()
  local whole, win = M.screen(), windows.shown()
  local anywhere = { whole, { 'SE', 'NE', 'SW', 'NW' } }
  if not win then
    return { anywhere }
  end
  local chat, found = M.area_of(win), {} ---@type eca.ScreenArea, eca.Corners[]
  local is_wide = chat.right - chat.left >= LEAST_WINDOW.columns
  chat.top = chat.bottom - chat.top < LEAST_WINDOW.rows and whole.top or chat.top
  for _, top in ipairs(is_wide and { chat.top + 1, chat.top } or {}) do
    found[#found + 1] = { vim.tbl_extend('force', chat, { top = top }), { 'SE', 'NE' } }
  end
  found[#found + 1] = anywhere
  for _, side in ipairs({ { right = chat.left - 1 }, { left = chat.right + 1 } }) do
    local area = vim.tbl_extend('force', whole, side)
    if area.right - area.left >= LEAST_BESIDE then
      found[#found + 1] = { area, { 'SE', 'NE' } }
    end
  end
  return found
end

--- The first place with enough rows that hides none of the areas to keep free, else the one with
--- the fewest missing rows. Of the corners of an area the first with the most rows is taken.
---@param want eca.PromptWant
---@param short boolean our own rows are enough
---@param kept eca.ScreenArea[]
---@param enough integer rows that are good enough
---@return eca.PromptPlace
---@return boolean is_good it has enough rows
local function best_place(want, short, kept, enough)
  local best ---@type eca.PromptPlace?
  for _, each in ipairs(areas()) do
    local area, corners = each[1], each[2]
    local width = math.min(want.columns, area.right - area.left - BORDER, MOST_COLUMNS)
    width = math.max(LEAST_COLUMNS, width)
    local all, own = want.rows(width)
    local wanted = math.min(MOST_ROWS, short and own or all)
    local found ---@type eca.PromptPlace?
    for _, corner in ipairs(corners) do
      local free = free_corner(area, corner, width + BORDER, kept)
      local rows = math.min(wanted, free.bottom - free.top - BORDER)
      if not found or rows > found.rows then
        if corner:sub(1, 1) == 'S' then
          free.top = free.bottom - rows - BORDER
        else
          free.bottom = free.top + rows + BORDER
        end
        found = { area = free, width = width, rows = rows, missing = wanted - rows, short = short }
      end
    end
    if found.missing <= 0 or found.rows >= enough then
      return found, true
    elseif not best or found.missing < best.missing then
      best = found
    end
  end
  return assert(best), false
end

--- Choose a place. What it may hide, the first first: rows of the agent's explanation before the
--- request's block, from its first row on; that block; the list or low window the user is in, but
--- for the line of the cursor; the line and the input. In a panel the request is read in the float,
--- so what is around it makes way first, and of the panel all but the line of the cursor.
---@param want eca.PromptWant
---@param win integer the window the user works in
---@return eca.PromptPlace
function M.choose(want, win)
  local _, input_window = windows.shown()
  local input = input_window and M.area_of(input_window)
  local seen, line = looked_at(win), cursor_line(win)
  local block = want.block
  if is_panel(win) then
    local place, is_whole = best_place(want, false, { seen }, MOST_ROWS)
    return is_whole and place or (best_place(want, false, { line }, MOST_ROWS))
  end
  for rows = block and EXPLANATION_ROWS or -1, 0, -1 do
    local area = vim.tbl_extend('force', block.area, { top = block.area.top - rows })
    local enough = block.whole and MOST_ROWS or ENOUGH_ROWS
    local place, is_good = best_place(want, block.whole, { area, seen, input }, enough)
    if is_good then
      return place
    end
  end
  local place = best_place(want, false, { seen, input }, ENOUGH_ROWS)
  if place.missing > 0 and place.rows < LEAST_ROWS then
    place = best_place(want, false, { line, input }, ENOUGH_ROWS)
  end
  return place.rows > 0 and place or best_place(want, false, {}, 1)
end

--- The place as fields of a window's configuration.
---@param place eca.PromptPlace
---@return vim.api.keyset.win_config
function M.config(place)
  local area = place.area
  -- With its border, as <C-w>J and the like make it a window without one.
  local config = { relative = 'editor', border = M.FIRST.border, row = area.top, col = area.left }
  config.width, config.height = place.width, math.max(1, place.rows)
  return config
end

--- Does a float at this place hide what the user looks at in a window?
---@param place eca.PromptPlace
---@param win integer
---@return boolean
function M.hides(place, win)
  return overlap(place.area, looked_at(win))
end

--- Is the place still right when the request's block has moved on the screen?
---@param place eca.PromptPlace
---@param block? eca.SeenBlock
---@return boolean
function M.suits(place, block)
  local short = block ~= nil and block.whole
  return short == place.short and not (block and overlap(place.area, block.area))
end

return M
