--- The windows that show chats: at most one pair per tab page, transcript above input.
---
--- Rules kept here:
--- - Closing a window in any way never changes a chat.
--- - `:q` in the transcript closes the input too; the next `:EcaChat` opens it again. If something
---   other than the user closes one window, the other stays.
--- - The current window changes only in functions that a command of the user calls.
local chats = require('eca.chat.buffers')
local code_window = require('eca.window.code_window')
local follow_end = require('eca.window.follow_end')
local layout = require('eca.window.layout')
local others = require('eca.ui.others')
local sizes = require('eca.window.sizes')
local winbar = require('eca.window.winbar')

local M = {}

---@class eca.Pair
---@field chat string
---@field transcript? integer window
---@field input? integer window
---@field origin integer window the user came from
---@field mods? table `smods` of the command that placed it
---@field sizes eca.Sizes

local pairs_by_tab = {} ---@type table<integer, eca.Pair>

---@param win? integer
---@param buf integer
---@return boolean
local function shows(win, buf)
  local there = win ~= nil and vim.api.nvim_win_is_valid(win)
  return there and (vim.api.nvim_win_get_buf(win) == buf or code_window.has_guest(win))
end

--- The pair of a tab page, without windows that are gone; nil if both are gone.
---@param tab? integer default: the current one
---@return eca.Pair?
local function pair_of(tab)
  tab = tab or vim.api.nvim_get_current_tabpage()
  local pair = pairs_by_tab[tab]
  local chat = pair and chats.get(pair.chat)
  if not pair or not chat then
    return nil
  end
  pair.transcript = shows(pair.transcript, chat.buf) and pair.transcript or nil
  pair.input = shows(pair.input, chat.input) and pair.input or nil
  if pair.transcript or pair.input then
    return pair
  end
  pairs_by_tab[tab] = nil
end

---@param pair eca.Pair
---@param chat eca.Chat
local function show_other(pair, chat)
  if pair.transcript then
    follow_end.leave(pair.transcript)
  end
  for name, buf in pairs({ transcript = chat.buf, input = chat.input }) do
    if pair[name] then
      others.show(pair[name], buf)
      sizes.dress(pair, name)
    end
  end
  pair.chat = chat.id
  if pair.transcript then
    follow_end.enter(pair.transcript)
  end
end

--- Reopen the window of the pair that was closed.
---@param pair eca.Pair
---@param chat eca.Chat
local function complete(pair, chat)
  if not pair.input then
    others.go_to(pair.transcript)
    local rows = sizes.of_text(chat.input)
    pair.input = layout.open_input(pair.transcript, chat.input, rows)
    if pair.input then
      sizes.dress(pair, 'input')
      sizes.ask_rows(pair, rows, true)
    end
  elseif not pair.transcript then
    pair.transcript = layout.open_transcript(pair.input, chat.buf)
    if pair.transcript then
      sizes.dress(pair, 'transcript')
      follow_end.go_to_end(pair.transcript)
      sizes.ask_rows(pair, sizes.of_text(chat.input), true)
    end
  end
end

---@param chat eca.Chat
---@param mods? table
---@return eca.Pair
local function make(chat, mods)
  local origin = vim.api.nvim_get_current_win()
  local rows = sizes.of_text(chat.input)
  local transcript, input = layout.open(chat.buf, chat.input, layout.choose(mods), rows)
  local pair = { chat = chat.id, transcript = transcript, input = input, origin = origin }
  pair.mods = mods
  pairs_by_tab[vim.api.nvim_get_current_tabpage()] = pair
  sizes.opened(pair, rows)
  follow_end.go_to_end(transcript)
  return pair
end

--- Open a chat in this tab page, or go to it; the input becomes the current window.
---@param id string
---@param mods? table `smods` of the command
function M.open(id, mods)
  code_window.settle()
  local chat = chats.ensure(id)
  chats.use(id)
  local pair = pair_of()
  if not pair or (mods and mods.tab >= 0) then
    pair = make(chat, mods)
  else
    if pair.chat ~= id then
      show_other(pair, chat)
    end
    complete(pair, chat)
    if mods and layout.has_mods(mods) and pair.input and pair.transcript then
      sizes.move(pair, mods)
    end
  end
  local here = vim.api.nvim_get_current_win()
  if here ~= pair.transcript and here ~= pair.input then
    pair.origin = here
  end
  others.go_to(pair.input or pair.transcript)
  winbar.refresh(id)
end

--- Show another chat in every window of a chat, or close them if `other` is nil. The current window
--- stays the same unless it is closed.
---@param id string
---@param other? string
function M.replace(id, other)
  local here = vim.api.nvim_get_current_tabpage()
  for tab in pairs(pairs_by_tab) do
    local pair = vim.api.nvim_tabpage_is_valid(tab) and pair_of(tab)
    if pair and pair.chat == id and other then
      show_other(pair, chats.ensure(other))
      chats.use(other)
      winbar.refresh(other)
    elseif pair and pair.chat == id then
      others.go_to_tab(tab)
      M.hide()
      others.go_to_tab(vim.api.nvim_tabpage_is_valid(here) and here or 0)
    end
  end
end

---@param win integer
local function close(win)
  if not pcall(others.close, win) then -- the last window
    others.show(win, code_window.last_file())
  end
end

--- Close the windows of the chat in this tab page.
---@return boolean closed false: there were none
function M.hide()
  local pair = pair_of()
  if not pair then
    return false
  end
  local here = vim.api.nvim_get_current_win()
  local inside = here == pair.transcript or here == pair.input
  pairs_by_tab[vim.api.nvim_get_current_tabpage()] = nil
  if pair.input then
    close(pair.input)
  end
  if pair.transcript then
    close(pair.transcript)
  end
  if inside and vim.api.nvim_win_is_valid(pair.origin) then
    others.go_to(pair.origin)
  end
  return true
end

--- The chat shown in this tab page.
---@return string?
function M.chat_shown()
  local pair = pair_of()
  return pair and pair.chat
end

--- The current chat: that of the current buffer, else of this tab page, else the last used.
---@return string?
function M.current_chat()
  local chat = chats.of_buffer(vim.api.nvim_get_current_buf())
  return chat and chat.id or M.chat_shown() or chats.latest()
end

--- The windows of the chat in this tab page.
---@return integer? transcript, integer? input
function M.shown()
  local pair = pair_of()
  if pair then
    return pair.transcript, pair.input
  end
end

--- A window for files: the last one the user was in, else any, else a new one.
---@return integer
function M.code_window()
  local pair = pair_of()
  return code_window.find(pair and pair.origin)
end

--- The user closed the transcript: close the input, too. If that is the last window, quit Neovim.
---@param input integer
local function close_remaining(input)
  if not vim.api.nvim_win_is_valid(input) then
    return
  end
  local tab = vim.api.nvim_win_get_tabpage(input)
  local alone = #layout.splits(tab) == 1 and #vim.api.nvim_list_tabpages() == 1
  if not alone then
    return others.close(input)
  end
  local unsaved = not vim.o.autowriteall
    and vim.iter(vim.fn.getbufinfo({ bufmodified = 1 })):find(function(buf)
      return vim.bo[buf.bufnr].buftype == '' -- then `:quit` would wait for a key
    end)
  if unsaved then
    local name = unsaved.name == '' and '[No Name]' or vim.fn.fnamemodify(unsaved.name, ':t')
    require('eca.ui.notify').warn(('Neovim stays: %s has unsaved changes'):format(name))
    return
  end
  local left, fault = pcall(vim.api.nvim_win_call, input, vim.cmd.quit)
  if not left then
    require('eca.ui.notify').warn(tostring(fault):match('E%d+:[^\n]*') or tostring(fault))
  end
end

--- Fit the windows of an input to its text. Without a transcript there are no rows to take.
---@param buf integer
function M.fit_input(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local pair = pairs_by_tab[vim.api.nvim_win_get_tabpage(win)]
    local beside = pair and pair.input == win and pair.transcript
    if beside and vim.api.nvim_win_is_valid(beside) then
      sizes.ask_rows(pair, sizes.of_text(buf, win))
    end
  end
end

--- Called when splits open or close, or the screen changes its size: the chat's sizes are restored.
---@param why eca.Rearranged
local function rearranged(why)
  for _, pair in pairs(pairs_by_tab) do
    sizes.rearranged(pair, why)
  end
  if next(pairs_by_tab) then
    vim.schedule(function()
      local pair = pair_of()
      if pair and pair.transcript then
        sizes.restore(pair)
      end
    end)
  end
end

local function windows_rearranged()
  layout.fit_screen()
  rearranged('windows')
end

local function opened()
  if vim.api.nvim_win_get_config(0).relative == '' then -- a float takes no room from others
    rearranged('windows')
  end
end

---@param event { match: string }
local function closed(event)
  local win = assert(tonumber(event.match))
  for tab, pair in pairs(pairs_by_tab) do
    if pair.transcript == win then
      pair.transcript = nil
      if win == vim.api.nvim_get_current_win() and pair.input then
        pairs_by_tab[tab] = nil
        vim.schedule(function()
          close_remaining(pair.input)
        end)
      end
    elseif pair.input == win then
      pair.input = nil
    end
    if not pair.transcript and not pair.input then -- also with its tab page
      pairs_by_tab[tab] = nil
    end
  end
  if vim.api.nvim_win_get_config(win).relative == '' then
    rearranged('closed')
  end
end

--- Called when the screen changes its size: floats are placed again. Nothing is drawn before.
local function screen_resized()
  layout.fit_screen()
  for _, pair in pairs(pairs_by_tab) do
    local both = pair.transcript and pair.input and vim.api.nvim_win_is_valid(pair.input)
    if both and vim.api.nvim_win_get_config(pair.input).relative ~= '' then
      sizes.fit_rows(pair)
    end
  end
  rearranged('screen')
end

local function resized()
  for _, win in ipairs(vim.v.event.windows or {}) do
    if vim.api.nvim_win_is_valid(win) then
      winbar.refresh_window(win)
    end
  end
  local pair = pair_of()
  if pair and pair.transcript and not sizes.resized(pair) then
    windows_rearranged()
  end
end

--- The pair that a window belongs to, whatever it shows.
---@param win integer
---@return eca.Pair? pair, ('transcript'|'input')? kind
local function owner(win)
  for _, pair in pairs(pairs_by_tab) do
    local kind = pair.transcript == win and 'transcript' or pair.input == win and 'input'
    if kind then
      return pair, kind
    end
  end
end

code_window.guard({
  owner = owner,
  code_window = M.code_window,
  show = M.open,
  restore = function(win, pair, kind)
    local chat = chats.ensure(pair.chat) -- its buffer may be wiped out
    others.show(win, kind == 'input' and chat.input or chat.buf)
    sizes.dress(pair, kind)
  end,
  hide = M.hide,
})

local group = vim.api.nvim_create_augroup('eca.window', {})
---@param events string|string[]
---@param callback fun(event: table)
---@param pattern? string[]
local function on(events, callback, pattern)
  vim.api.nvim_create_autocmd(events, { group = group, pattern = pattern, callback = callback })
end
on('WinNew', opened)
on('WinClosed', closed)
on('TabEnter', windows_rearranged)
on('OptionSet', windows_rearranged, { 'cmdheight', 'laststatus', 'showtabline' })
on({ 'VimResized', 'UIEnter' }, screen_resized) -- the first UI can change the size, too
on('WinResized', resized)

return M
