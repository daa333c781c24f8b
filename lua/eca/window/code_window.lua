--- Windows for files, beside the chat's own.
---
--- Rules kept here:
--- - A file that a command or a picker opens in a chat's window is moved to a window for files: the
---   last one the user was in, else any, else a new one. The cursor position is kept. The focus
---   follows the file if the chat's window was the current one.
--- - A file for which a command splits a chat's window gets a split of a window for files instead.
--- - The file is moved after the command has ended, so that the rest of the command still applies
---   to it; at the latest before a chat is opened.
local others = require('eca.ui.others')
local paths = require('eca.files.paths')

local M = {}

--- What this file needs of the chats' windows; `restore` shows the chat's buffer in its own again.
---@class eca.ChatWindows
---@field owner fun(win: integer): eca.Pair?, ('transcript'|'input')? the pair it belongs to
---@field code_window fun(): integer a window for files
---@field show fun(chat: string) shows another chat
---@field restore fun(win: integer, pair: eca.Pair, kind: 'transcript'|'input')
---@field hide fun()

--- What moves the buffer of a window, for windows whose buffer is about to be moved.
local guests = {} ---@type table<integer, fun()>

---@alias eca.Side 'above'|'below'|'left'|'right'

--- Does a chat's window show another buffer for a moment?
---@param win integer
---@return boolean
function M.has_guest(win)
  return guests[win] ~= nil
end

--- Is a window one for files?
---@param win integer
---@return boolean
function M.is_code(win)
  if win == 0 or not vim.api.nvim_win_is_valid(win) then
    return false
  end
  local plain = vim.bo[vim.api.nvim_win_get_buf(win)].buftype == ''
  local floating = vim.api.nvim_win_get_config(win).relative ~= ''
  return plain and not floating and not vim.wo[win].winfixbuf and not guests[win]
end

--- The last window for files that the user was in, else any, else a new one.
---@param origin? integer the window the user came to the chat from
---@return integer
function M.find(origin)
  local candidates = vim.api.nvim_tabpage_list_wins(0)
  table.insert(candidates, 1, vim.fn.win_getid(vim.fn.winnr('#')))
  table.insert(candidates, 2, origin or 0)
  for _, win in ipairs(candidates) do
    if M.is_code(win) then
      return win
    end
  end
  local empty = vim.api.nvim_create_buf(true, false)
  vim.bo[empty].bufhidden = 'wipe'
  return vim.api.nvim_open_win(empty, false, { split = 'left', win = -1 })
end

--- The last used file, for a window that has nothing else to show.
---@return integer buf
function M.last_file()
  local listed = vim.tbl_filter(function(info)
    return vim.bo[info.bufnr].buftype == ''
  end, paths.listed_buffers())
  return listed[1] and listed[1].bufnr or vim.api.nvim_create_buf(true, false)
end

--- Show a buffer in a window for files. If the window cannot leave its buffer, it is split.
---@param win integer
---@param buf integer
---@return integer win
local function show(win, buf)
  if pcall(vim.api.nvim_win_set_buf, win, buf) then
    return win
  end
  return vim.api.nvim_open_win(buf, false, { split = 'below', win = win })
end

--- The pair of a chat's window that shows another buffer.
---@param chats eca.ChatWindows
---@param win integer
---@return eca.Pair? pair, ('transcript'|'input')? kind
local function misused(chats, win)
  local pair, kind = chats.owner(win)
  local own = pair and require('eca.chat.buffers').get(pair.chat)
  if own and vim.api.nvim_win_is_valid(win) then
    local shows_own = vim.api.nvim_win_get_buf(win) == own[kind == 'input' and 'input' or 'buf']
    return not shows_own and pair or nil, kind
  end
end

--- Show the place of a moved buffer, and go there if the user was in the window that it has left.
---@param win integer
---@param view vim.fn.winsaveview.ret
---@param entered boolean
local function go_on_in(win, view, entered)
  vim.api.nvim_win_call(win, function()
    vim.fn.winrestview(view)
  end)
  if entered then
    vim.api.nvim_set_current_win(win)
  end
end

---@param chats eca.ChatWindows
---@param win integer
local function move(chats, win)
  local pair, kind = misused(chats, win)
  if not pair or not kind then
    return
  end
  local buf = vim.api.nvim_win_get_buf(win)
  local chat = require('eca.chat.buffers').of_buffer(buf)
  if chat then
    chats.restore(win, pair, kind)
    chats.show(chat.id)
    return
  end
  local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
  local entered = win == vim.api.nvim_get_current_win()
  local floating = vim.api.nvim_win_get_config(win).relative ~= ''
  -- Shown there first: a buffer in no window may be wiped, and one with changes may not be left.
  local target = show(vim.api.nvim_win_call(win, chats.code_window), buf)
  chats.restore(win, pair, kind)
  go_on_in(target, view, entered)
  if entered and floating then
    chats.hide()
  end
end

--- Move the file of a window that was split from a chat's window. Lists, terminals and chats stay.
---@param chats eca.ChatWindows
---@param win integer
---@param side eca.Side
local function move_split(chats, win, side)
  local buf = vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win)
  if not buf or vim.bo[buf].buftype ~= '' then
    return
  end
  local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
  local entered = win == vim.api.nvim_get_current_win()
  local before = #vim.api.nvim_list_wins()
  local code = vim.api.nvim_win_call(win, chats.code_window)
  local is_new, target = #vim.api.nvim_list_wins() > before, nil ---@type boolean, integer?
  if not is_new then
    local opened, beside = pcall(vim.api.nvim_open_win, buf, false, { split = side, win = code })
    target = opened and beside or nil
  end
  target = target or show(code, buf) -- there is no room beside it
  others.close(win, false)
  go_on_in(target, view, entered)
end

--- Move the buffer of a window when the command has ended.
---@param chats eca.ChatWindows
---@param win integer
---@param side? eca.Side of a window that was split from a chat's, which a chat may take
local function move_later(chats, win, side)
  if guests[win] then
    return
  end
  guests[win] = function()
    local is_split = side and not chats.owner(win)
    local moved, fault = pcall(is_split and move_split or move, chats, win, side)
    guests[win] = nil
    if not moved then
      error(fault, 0)
    end
  end
  others.soon(function()
    if guests[win] then
      guests[win]()
    end
  end)()
end

--- Move at once what is about to be moved: whoever opens a chat next is then not led away from it.
function M.settle()
  for _, move_guest in ipairs(vim.tbl_values(guests)) do
    move_guest()
  end
end

--- The side of a window on which another one has taken half of its room; nil: it is elsewhere.
---@param from integer
---@param win integer
---@return eca.Side?
local function side_of(from, win)
  local row, column = unpack(vim.api.nvim_win_get_position(win))
  local from_row, from_column = unpack(vim.api.nvim_win_get_position(from))
  if row == from_row and vim.fn.winheight(win) == vim.fn.winheight(from) then
    return column < from_column and 'left' or 'right'
  elseif column == from_column and vim.fn.winwidth(win) == vim.fn.winwidth(from) then
    return row < from_row and 'above' or 'below'
  end
end

--- Called when a window is new: one that a command splits from a chat's still shows the same.
---@param chats eca.ChatWindows
local function new_window(chats)
  local win, from = vim.api.nvim_get_current_win(), vim.fn.win_getid(vim.fn.winnr('#'))
  local same = vim.api.nvim_win_get_buf(win) == vim.api.nvim_win_get_buf(from)
  local floating = vim.api.nvim_win_get_config(from).relative ~= ''
  local side = same and chats.owner(from) and not floating and side_of(from, win)
  if side then
    move_later(chats, win, side)
  end
end

--- Move foreign buffers out of the chats' windows. Whoever restores sizes when a window is new must
--- listen after this, so that a file of a split is gone by then.
---@param chats eca.ChatWindows
function M.guard(chats)
  local group = vim.api.nvim_create_augroup('eca.window.code_window', {})
  vim.api.nvim_create_autocmd('WinNew', {
    group = group,
    callback = function()
      new_window(chats)
    end,
  })
  -- A file manager may show a listing in the window before the folder's buffer is displayed.
  vim.api.nvim_create_autocmd({ 'BufEnter', 'BufWinEnter' }, {
    group = group,
    callback = function()
      local win = vim.api.nvim_get_current_win()
      if chats.owner(win) then
        move_later(chats, win)
      end
    end,
  })
  vim.api.nvim_create_autocmd('SafeState', { -- `:noautocmd edit` has no other event
    group = group,
    callback = function()
      local win = vim.api.nvim_get_current_win()
      if misused(chats, win) then
        move_later(chats, win)
      end
    end,
  })
end

return M
