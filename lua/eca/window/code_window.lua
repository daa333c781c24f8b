--- Windows for files, beside the chat's own.
---
--- Rules kept here:
--- - A file that a command or a picker opens in a chat's window is moved to a window for files: the
---   last one the user was in, else any, else a new one. The cursor position is kept. The focus
---   follows the file if the chat's window was the current one.
--- - The file is moved after the command has ended, so that the rest of the command still applies
---   to it.
local M = {}

---@class eca.ChatWindows what this file needs to know about the chats' windows
---@field owner fun(win: integer): eca.Pair?, ('transcript'|'input')? the pair it belongs to
---@field code_window fun(): integer a window for files
---@field show fun(chat: string) shows another chat
---@field restore fun(win: integer, pair: eca.Pair, kind: 'transcript'|'input')
---@field hide fun()

local guests = {} ---@type table<integer, true> windows whose buffer is about to be moved

--- Does a chat's window show another buffer for a moment?
---@param win integer
---@return boolean
function M.has_guest(win)
  return guests[win] ~= nil
end

---@param win integer
---@return boolean
local function is_code(win)
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
    if is_code(win) then
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
  end, vim.fn.getbufinfo({ buflisted = 1 }))
  table.sort(listed, function(a, b)
    return a.lastused > b.lastused
  end)
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

---@param chats eca.ChatWindows
---@param win integer
local function move(chats, win)
  local pair, kind = chats.owner(win)
  if not pair or not kind or not vim.api.nvim_win_is_valid(win) then
    return
  end
  local buf = vim.api.nvim_win_get_buf(win)
  local own = require('eca.chat.buffers').get(pair.chat)
  local chat = require('eca.chat.buffers').of_buffer(buf)
  if not own or buf == own[kind == 'input' and 'input' or 'buf'] then
    return
  end
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
  vim.api.nvim_win_call(target, function()
    vim.fn.winrestview(view)
  end)
  if entered then
    vim.api.nvim_set_current_win(target)
  end
  if entered and floating then
    chats.hide()
  end
end

--- Move foreign buffers out of the chats' windows.
---@param chats eca.ChatWindows
function M.guard(chats)
  -- A file manager may show a listing in the window before the folder's buffer is displayed.
  vim.api.nvim_create_autocmd({ 'BufEnter', 'BufWinEnter' }, {
    group = vim.api.nvim_create_augroup('eca.window.code_window', {}),
    callback = function()
      local win = vim.api.nvim_get_current_win()
      if chats.owner(win) and not guests[win] then
        guests[win] = true
        vim.schedule(function()
          local moved, fault = pcall(move, chats, win)
          guests[win] = nil
          if not moved then
            error(fault, 0)
          end
        end)
      end
    end,
  })
end

return M
