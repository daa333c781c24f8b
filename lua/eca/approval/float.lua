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
---@field buf integer that of its text
---@field content eca.PromptContent
---@field guard eca.Guard
---@field place? eca.PromptPlace
---@field block? eca.SeenBlock the block that `place` was chosen for
---@field origin? eca.Origin where the user came from
---@field selecting? boolean the user was in visual mode there
---@field paused? boolean a request was answered here, and the next may come
---@field seen eca.SeenRows

local group = vim.api.nvim_create_augroup('eca.prompt', {})

local shown = nil ---@type eca.PromptFloat?

---@param content eca.PromptContent
---@return integer
local function wanted_columns(content)
  local keys = footer.width(footer.of(footer.keys(content.choices)))
  local named = vim.api.nvim_strwidth(content.title) + prompt_content.WAY_CELLS
  return math.max(math.max(keys, named) + 2, float_buffer.columns(content))
end

---@param float eca.PromptFloat
local function draw_title(float)
  local win = float.win
  if vim.api.nvim_win_get_config(win).relative == '' then
    return -- by <C-w>J and the like: it is about to be placed again
  end
  local focused = vim.api.nvim_get_current_win() == win
  local room = vim.api.nvim_win_get_width(win) - 2
  local is_short = float.paused or float.place.short
  local more = 0
  if not is_short then
    local unseen
    unseen, more = float.seen()
    if unseen == 0 then
      float.content.read()
    end
  end
  local where = is_short and not float.paused and float.content.quoted[1] > 0
  local text = prompt_content.title(float.content, where and 'in chat' or more, focused, room)
  vim.api.nvim_win_set_config(win, { title = { { (' %s '):format(text), 'EcaFloatTitle' } } })
end

--- Place the float, as high as its text if there is room for it.
---@param float eca.PromptFloat
local function fit(float)
  local content, buf = float.content, float.buf
  if vim.api.nvim_win_get_buf(float.win) ~= buf then -- the user has opened another one in it
    return
  end
  if float.place and float.place.short then
    float_buffer.fill(buf, content) -- all of it is measured
  end
  local known = {} ---@type table<integer, [integer, integer]>
  ---@param width integer
  local function rows(width)
    if not known[width] then
      vim.api.nvim_win_set_config(float.win, { width = width })
      float_buffer.break_rows(buf, content, width)
      local own = { end_row = math.max(0, content.quoted[1] - 1) }
      known[width] = {
        vim.api.nvim_win_text_height(float.win, {}).all,
        vim.api.nvim_win_text_height(float.win, own).all,
      }
    end
    return unpack(known[width])
  end
  local user = return_window.here().win
  user = vim.api.nvim_win_is_valid(user) and user or vim.api.nvim_get_current_win()
  float.block = content.seen and content.seen(float.win)
  local want = { columns = wanted_columns(content), rows = rows, block = float.block }
  float.place = place.choose(want, user)
  local config = place.config(float.place)
  config.hide = false
  config.footer = footer.of(footer.keys(content.choices), float.place.width, footer.LISTED)
  vim.api.nvim_win_set_config(float.win, config)
  if float.place.short then
    float_buffer.fill(buf, content, true)
  end
  float_buffer.break_rows(buf, content, float.place.width)
  draw_title(float)
  if vim.api.nvim_get_mode().mode:find('^c') then -- nothing else would draw it
    vim.cmd.redraw()
  end
end

--- Move the float if it now hides the cursor, a list the user works in, or the request's block,
--- which moves when the text of its chat changes.
function M.make_way()
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

--- Answer, if the key was meant for what is on the screen: the float may have to show text that the
--- chat does not show any more.
---@param choice? eca.Choice
---@return boolean answered
local function answer(choice)
  local was_short = shown and shown.place.short
  M.make_way()
  if not shown or not choice or not guard.is_over(shown.guard) then
    return false
  elseif was_short and not shown.place.short then
    shown.guard = guard.begin()
    return false
  end
  local row = vim.api.nvim_win_get_cursor(shown.win)[1] - 1
  choice.run(not shown.place.short and row or nil)
  return true
end

local EARLY = 'the request has just appeared: press again to answer'

--- Why a key that is pressed in another window cannot be meant for a request.
---@param request string `key` of its content
---@return string? fault one line
function M.refusal(request)
  if not shown or not M.state() or shown.content.key ~= request then
    return 'the request is not on the screen yet: press again to answer'
  end
  return not guard.is_over(shown.guard) and EARLY or nil
end

--- Answer what is shown by a key that was pressed in another window.
---@param key string
---@return string? fault one line, why it has answered nothing
function M.press(key)
  for _, choice in ipairs(shown and shown.content.choices or {}) do
    if choice.key == key then
      return not answer(choice) and EARLY or nil
    end
  end
  return key .. ' does nothing for this request: g<CR> goes to it'
end

--- Called when the user enters the float: remembers from where, and leaves insert mode, since keys
--- answer here.
local function entered()
  if not shown then
    return
  end
  local win = vim.fn.win_getid(vim.fn.winnr('#'))
  local is_valid = vim.api.nvim_win_is_valid(win)
  local from_float = is_valid and vim.api.nvim_win_get_config(win).relative ~= ''
  if win == shown.win or shown.origin and from_float then -- the list of keys was closed
    return
  end
  local inserting = return_window.is_inserting()
  local cursor = is_valid and vim.api.nvim_win_get_cursor(win) or { 1, 0 }
  shown.origin = { win = win, inserting = inserting, cursor = cursor, in_float = true }
  vim.cmd.stopinsert()
end

--- List the keys; closing the list returns here.
local function help()
  if shown then
    local rows = {} ---@type eca.KeyRow[]
    for _, choice in ipairs(shown.content.choices) do
      local text = choice.about or choice.text
      rows[#rows + 1] = text and { choice.label or choice.key, text }
    end
    local cursor = vim.api.nvim_win_get_cursor(shown.win)
    key_list.show({ { rows = rows } }, { win = shown.win, inserting = false, cursor = cursor })
  end
end

---@param content eca.PromptContent
---@return integer buf
local function write(content)
  local buf = float_buffer.write(content)
  vim.keymap.set('n', 'g?', help, { buffer = buf, nowait = true, desc = 'eca: list the keys' })
  vim.keymap.set('n', '<LeftRelease>', function() -- a click on a key in the border
    answer(shown and footer.pressed(shown.win, shown.content.choices))
  end, { buffer = buf })
  for _, choice in ipairs(content.choices) do
    for _, key in ipairs({ choice.key, choice.mouse }) do
      vim.keymap.set('n', key, function()
        answer(choice)
      end, { buffer = buf, nowait = true, silent = true })
    end
  end
  vim.api.nvim_create_autocmd('WinEnter', { buffer = buf, callback = entered })
  return buf
end

--- Called when the float's window is closed by the user, or by a command that closes all others.
local function closed()
  local float = shown
  if float then
    shown = nil
    vim.api.nvim_clear_autocmds({ group = group })
    local by_user = vim.api.nvim_get_current_win() == float.win
    vim.schedule(function()
      float.content.gone(by_user)
    end)
  end
end

--- Name the key that enters the float from the current window and mode, and what was scrolled to.
local function refresh_title()
  if shown and M.state() then
    draw_title(shown)
  end
end

local MOVES = { 'CursorMoved', 'CursorMovedI', 'TextChangedT', 'WinEnter', 'WinScrolled' }
local HIDING = { 'conceallevel', 'foldenable', 'foldlevel', 'foldmethod', 'wrap' } -- the block

---@param win integer
local function watch(win)
  vim.api.nvim_clear_autocmds({ group = group })
  ---@param events string|string[]
  ---@param callback fun()
  ---@param pattern? string|string[]
  local function on(events, callback, pattern)
    local options = { group = group, pattern = pattern, callback = callback }
    vim.api.nvim_create_autocmd(events, options)
  end
  on('WinClosed', closed, tostring(win))
  on('WinScrolled', refresh_title, tostring(win))
  on({ 'WinEnter', 'BufEnter', 'ModeChanged' }, refresh_title)
  on(MOVES, M.make_way)
  on('OptionSet', vim.schedule_wrap(M.make_way), HIDING) -- its window is the current one meanwhile
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
  vim.api.nvim_clear_autocmds({ group = group })
  if focused and float.origin then
    return_window.go_back(float.origin)
    if float.selecting then
      vim.cmd('normal! gv')
    end
  end
  local worked, fault = pcall(others.close, float.win)
  if not worked and vim.api.nvim_win_is_valid(float.win) then
    shown = float
    watch(float.win)
    error(fault, 0)
  end
end

--- Called after an answer, or when nothing is left to answer: a user inside the float stays there
--- for a moment, as the next request may come, or only for the guard time, in which it is not
--- drawn: keys were meant for it.
---@param answered boolean
---@return boolean stays
function M.pause(answered)
  local float = shown
  if float and float.paused and not answered then
    return true
  elseif not float or not select(2, M.state()) then
    return false
  end
  local buf = float_buffer.write(float.content)
  local choices = float.content.choices
  local nothing = { key = '', title = 'answered · next …' }
  float.content, float.paused = vim.tbl_extend('force', float.content, nothing), true
  float.buf = buf
  vim.api.nvim_win_set_buf(float.win, buf)
  float_buffer.set_window_options(float.win)
  vim.api.nvim_win_set_config(float.win, { footer = '', hide = not answered })
  draw_title(float)
  pause.begin(float.win, choices, answered and pause.LENGTH or 0, M.close)
  return true
end

--- Show a request in this tab page. If it is shown already, the float and its guard time stay. Else
--- it replaces the one that is shown, and the guard time begins again.
---@param content eca.PromptContent
function M.show(content)
  local before = shown
  local is_same = before and prompt_content.same_request(before.content, content)
  if before and not M.state() then
    M.close() -- it is in another tab page
  elseif before and prompt_content.same(before.content, content) then
    before.content = content
    fit(before)
    if vim.api.nvim_win_get_buf(before.win) == before.buf then
      return
    end
  end
  local buf = write(content)
  if shown then
    shown.content, shown.buf, shown.paused = content, buf, nil
    local view = is_same and vim.api.nvim_win_call(shown.win, vim.fn.winsaveview)
    local lines = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(shown.win))
    if not is_same then
      shown.guard = guard.begin()
    end
    shown.seen = seen_rows.watch(shown.win)
    vim.api.nvim_win_set_buf(shown.win, buf) -- last: its title is drawn if the user is in it
    if view then
      local more = #content.lines - lines -- our own rows, which come first
      view.lnum, view.topline = view.lnum + more, view.topline > 1 and view.topline + more or 1
      vim.api.nvim_win_call(shown.win, function()
        vim.fn.winrestview(view)
      end)
    end
  else
    local win = vim.api.nvim_open_win(buf, false, place.FIRST)
    shown = { win = win, buf = buf, content = content, guard = guard.begin() }
    shown.seen = seen_rows.watch(win)
    shown.guard = is_same and before and before.guard or shown.guard
    watch(win)
  end
  float_buffer.set_window_options(shown.win)
  fit(shown)
end

return_window.set_float(function()
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
