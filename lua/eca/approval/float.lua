--- The approval float: asks for a decision or an answer, over a corner of the chat.
---
--- Rules kept here:
--- - It appears without taking focus and without changing the mode, in the tab page the user is in.
--- - A key pressed within the guard time does not answer it: it was meant for something else.
--- - A user who entered it returns to where they were, in insert mode or with their selection.
--- - It shows text of the agent as lines of a buffer, never as a title, a format or a command. Its
---   title counts the rows that do not fit; they can be scrolled to.
--- - It moves away from what the user looks at, and otherwise stays where it is.
local float_buffer = require('eca.approval.buffer')
local footer = require('eca.ui.footer')
local guard = require('eca.consent.guard')
local key_list = require('eca.ui.keys')
local others = require('eca.ui.others')
local pause = require('eca.approval.pause')
local place = require('eca.approval.place')
local prompt_content = require('eca.approval.prompt_content')
local return_window = require('eca.ui.return_window')
local seen_rows = require('eca.consent.seen_rows')

local M = {}

---@alias eca.Mark [integer, integer, integer, string] row, first and last byte column, group

---@class eca.PromptFloat
---@field win integer
---@field content eca.PromptContent
---@field guard eca.Guard
---@field place? eca.PromptPlace
---@field block? eca.SeenBlock the block that `place` was chosen for
---@field origin? eca.Origin where the user came from
---@field selecting? boolean the user was in visual mode there
---@field paused? boolean a request was answered here, and the next may come
---@field seen eca.SeenRows
---@field short? boolean its buffer says that the rest is in the chat

local group = vim.api.nvim_create_augroup('eca.prompt', {})

local shown = nil ---@type eca.PromptFloat?

---@param content eca.PromptContent
---@return integer
local function wanted_columns(content)
  local keys = footer.width(footer.of(footer.keys(content.choices)))
  local named = vim.api.nvim_strwidth(content.title) + prompt_content.WAY_CELLS
  return math.max(math.max(keys, named) + 2, float_buffer.columns(content))
end

--- The window the user works in: the current one, or where the user came from.
---@return integer
local function user_window()
  local win = vim.api.nvim_get_current_win()
  local origin = shown and shown.win == win and shown.origin
  return origin and vim.api.nvim_win_is_valid(origin.win) and origin.win or win
end

---@param float eca.PromptFloat
local function draw_title(float)
  local win = float.win
  local focused = vim.api.nvim_get_current_win() == win
  local room = vim.api.nvim_win_get_width(win) - 2
  local is_short = float.paused or float.place.short
  local more = 0
  if not is_short then
    local unseen
    unseen, more = float.seen.look()
    if unseen == 0 then
      float.content.read()
    end
  end
  local where = is_short and not float.paused and float.content.quoted[1] > 0
  local text = prompt_content.title(float.content, where and 'in chat' or more, focused, room)
  vim.api.nvim_win_set_config(win, { title = { { (' %s '):format(text), 'EcaFloatTitle' } } })
end

--- Show all of the text, or where the rest of it is.
---@param float eca.PromptFloat
---@param short boolean
local function shorten(float, short)
  if short ~= (float.short or false) then
    float.short = short
    float_buffer.fill(vim.api.nvim_win_get_buf(float.win), float.content, short)
  end
end

--- Place the float, as high as its text if there is room for it.
---@param float eca.PromptFloat
local function fit(float)
  local content = float.content
  shorten(float, false) -- all of it is measured
  local known = {} ---@type table<string, integer>
  ---@param width integer
  ---@param last? integer row, default: the last one
  local function rows(width, last)
    local name = width .. ' ' .. (last or '')
    if not known[name] then
      vim.api.nvim_win_set_config(float.win, { width = width })
      float_buffer.break_rows(vim.api.nvim_win_get_buf(float.win), content, width)
      known[name] = vim.api.nvim_win_text_height(float.win, { end_row = last }).all
    end
    return known[name]
  end
  float.block = content.seen and content.seen(float.win)
  float.place = place.choose({
    columns = wanted_columns(content),
    rows = rows,
    own_rows = function(width)
      return rows(width, math.max(0, content.quoted[1] - 1))
    end,
    block = float.block,
  }, user_window())
  local config = place.config(float.place)
  config.hide = false
  config.footer = footer.of(footer.keys(content.choices), float.place.width, footer.LISTED)
  vim.api.nvim_win_set_config(float.win, config)
  shorten(float, float.place.short or false)
  float_buffer.break_rows(vim.api.nvim_win_get_buf(float.win), content, float.place.width)
  draw_title(float)
  if vim.api.nvim_get_mode().mode:find('^c') then -- nothing else would draw it
    vim.cmd.redraw()
  end
end

--- Move the float if it now hides the cursor, a list the user works in, or the request's block.
local function make_way()
  local visible, focused = M.state()
  if not shown or not visible or not shown.place or shown.paused then
    return
  end
  local block = shown.content.seen and shown.content.seen(shown.win)
  local moved = not vim.deep_equal(block, shown.block) and not place.suits(shown.place, block)
  if moved or not focused and place.hides(shown.place, vim.api.nvim_get_current_win()) then
    fit(shown)
  end
end

--- Called when the text of a chat has changed, which can move the request's block.
M.make_way = make_way

--- Name the key that enters the float from the current window and mode.
local function refresh_title()
  if shown and M.state() then
    draw_title(shown)
  end
end

--- Answer, if the key was meant for what is on the screen: the float may have to show text that the
--- chat does not show any more.
---@param choice? eca.Choice
local function answer(choice)
  local was_short = shown and shown.short
  make_way()
  if not shown or not choice or not guard.is_over(shown.guard) then
    return
  elseif was_short and not shown.short then
    shown.guard = guard.begin()
  else
    choice.run()
  end
end

---@param buf integer
---@param choice eca.Choice
local function bind(buf, choice)
  vim.keymap.set('n', choice.key, function()
    answer(choice)
  end, { buffer = buf, nowait = true, silent = true })
end

--- Called when the mouse clicks a key in the border.
local function click()
  answer(shown and footer.pressed(shown.win, shown.content.choices))
end

---@param win integer
---@return boolean
local function is_float(win)
  return vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_config(win).relative ~= ''
end

--- Called when the user enters the float: remembers from where, and leaves insert mode, since keys
--- answer here.
local function entered()
  if not shown then
    return
  end
  local mode = vim.api.nvim_get_mode().mode
  local win = vim.fn.win_getid(vim.fn.winnr('#'))
  if win == shown.win or shown.origin and is_float(win) then -- the list of keys was closed
    return
  end
  local inserting = mode:find('^[iRt]') ~= nil or mode:find('^n[it]') ~= nil
  local cursor = vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_cursor(win) or { 1, 0 }
  inserting = inserting and mode ~= 'nt'
  shown.origin = { win = win, inserting = inserting, cursor = cursor, in_float = true }
  vim.cmd.stopinsert()
end

--- List the keys; closing the list returns here.
local function help()
  if shown then
    local cursor = vim.api.nvim_win_get_cursor(shown.win)
    local here = { win = shown.win, inserting = false, cursor = cursor } ---@type eca.Origin
    key_list.show_choices(shown.content.choices, here)
  end
end

---@param content eca.PromptContent
---@return integer buf
local function write(content)
  local buf = float_buffer.write(content)
  vim.keymap.set('n', 'g?', help, { buffer = buf, nowait = true, desc = 'eca: list the keys' })
  vim.keymap.set('n', '<LeftRelease>', click, { buffer = buf })
  for _, choice in ipairs(content.choices) do
    bind(buf, choice)
  end
  vim.api.nvim_create_autocmd('WinEnter', { buffer = buf, callback = entered })
  return buf
end

--- Called when the float's window is closed by the user, or by a command that closes all others.
---@param win integer
local function closed(win)
  local float = shown
  if float and float.win == win then
    shown = nil
    local by_user = vim.api.nvim_get_current_win() == win
    vim.schedule(function()
      float.content.gone(by_user)
    end)
  end
end

local MOVES = { 'CursorMoved', 'CursorMovedI', 'TextChangedT', 'WinEnter', 'WinScrolled' }
local HIDING = { 'conceallevel', 'foldenable', 'foldlevel', 'foldmethod', 'wrap' } -- the block

---@param win integer
local function watch(win)
  vim.api.nvim_clear_autocmds({ group = group })
  vim.api.nvim_create_autocmd('WinClosed', {
    group = group,
    pattern = tostring(win),
    callback = function()
      closed(win)
    end,
  })
  vim.api.nvim_create_autocmd('WinScrolled', {
    group = group,
    pattern = tostring(win),
    callback = function()
      if shown and vim.api.nvim_win_is_valid(win) then
        draw_title(shown)
      end
    end,
  })
  vim.api.nvim_create_autocmd(MOVES, { group = group, callback = make_way })
  local later = vim.schedule_wrap(make_way) -- its window is the current one while it is set
  vim.api.nvim_create_autocmd('OptionSet', { group = group, pattern = HIDING, callback = later })
  local changes = { 'WinEnter', 'BufEnter', 'ModeChanged' }
  vim.api.nvim_create_autocmd(changes, { group = group, callback = refresh_title })
end

---@param content eca.PromptContent
local function open(content)
  local win = vim.api.nvim_open_win(write(content), false, place.FIRST)
  shown = { win = win, content = content, guard = guard.begin(), seen = seen_rows.watch(win) }
  watch(win)
  float_buffer.set_window_options(win)
  fit(shown)
end

--- Show another request in the open float.
---@param float eca.PromptFloat
---@param content eca.PromptContent
local function replace(float, content)
  if not prompt_content.same_request(float.content, content) then
    float.guard, float.seen = guard.begin(), seen_rows.watch(float.win)
  end
  float.content, float.paused, float.short = content, nil, nil
  vim.api.nvim_win_set_buf(float.win, write(content))
  float_buffer.set_window_options(float.win)
  fit(float)
end

--- Is the float in this tab page, and is the cursor in it?
---@return boolean visible, boolean focused
function M.state()
  if not shown or not vim.api.nvim_win_is_valid(shown.win) then
    return false, false
  end
  local here = vim.api.nvim_get_current_tabpage()
  local visible = vim.api.nvim_win_get_tabpage(shown.win) == here
  return visible, vim.api.nvim_get_current_win() == shown.win
end

--- Begin the guard time again: the last key led the user here, and the next may follow from habit.
function M.guard()
  if shown then
    shown.guard = guard.begin()
  end
end

--- Close the float. A user inside it returns to where they came from.
function M.close()
  local float = shown
  if not float then
    return
  end
  local focused = select(2, M.state())
  shown = nil
  if focused and float.origin then
    return_window.go_back(float.origin)
    if float.selecting then
      vim.cmd('normal! gv')
    end
  end
  local worked, fault = pcall(others.close, float.win)
  if not worked and vim.api.nvim_win_is_valid(float.win) then
    shown = float
    error(fault, 0)
  end
  vim.api.nvim_clear_autocmds({ group = group })
end

--- Called after an answer, or when nothing is left to answer: a user inside the float stays there
--- for a moment, or only for the guard time, in which it is not drawn: keys were meant for it.
---@param answered boolean
---@return boolean stays
function M.pause(answered)
  local float = shown
  if not float or not select(2, M.state()) then
    return false
  end
  local buf = float_buffer.write(float.content)
  local choices = float.content.choices
  float.content, float.paused = pause.content(float.content), true
  vim.api.nvim_win_set_buf(float.win, buf)
  float_buffer.set_window_options(float.win)
  vim.api.nvim_win_set_config(float.win, { footer = '', hide = not answered })
  draw_title(float)
  local function is_here()
    return shown == float and float.paused and vim.api.nvim_win_get_buf(float.win) == buf
  end
  local length = answered and pause.LENGTH or 0
  pause.begin(choices, length, { win = float.win, is_here = is_here, close = M.close })
  return true
end

--- Is it open only because the next request may come?
---@return boolean
function M.is_paused()
  return shown ~= nil and shown.paused or false
end

--- Show a request in this tab page. If it is shown already, the float and its guard time stay. Else
--- it replaces the one that is shown, and the guard time begins again.
---@param content eca.PromptContent
function M.show(content)
  if shown and not M.state() then
    local begun = prompt_content.same_request(shown.content, content) and shown.guard
    M.close()
    open(content)
    shown.guard = begun or shown.guard
  elseif not shown then
    open(content)
  elseif prompt_content.same(shown.content, content) then
    shown.content = content
    fit(shown)
  else
    replace(shown, content)
  end
end

return_window.add_float(function()
  return shown and select(2, M.state()) and shown.origin or nil
end)

--- Enter the float; returns false if there is none.
---@param origin? eca.Origin where to return to, default: the current window
---@return boolean
function M.focus(origin)
  local visible = M.state()
  if visible and shown then
    local selecting = vim.api.nvim_get_mode().mode:find('^[vV\22]') ~= nil
    if selecting then
      vim.cmd('normal! \27')
    end
    vim.api.nvim_set_current_win(shown.win)
    shown.selecting = selecting
    shown.origin = origin or shown.origin
  end
  return visible
end

return M
