--- Searches a chat, closed blocks included. The hits are in a location list.
---
--- Rules kept here:
--- - A hit is a block and a line in it. Each jump asks the host where that is now, opens the block
---   and puts the cursor on the line.
--- - Jumps are Neovim's own (`:lnext`, `<CR>` in the list …): we notice them and do not replace
---   them.
local M = {}

---@class eca.Hit
---@field block integer
---@field shown integer the block itself, or the one in the view that it is nested in
---@field row? integer 0-based line of the block's whole text; nil: in its header
---@field column integer 0-based byte
---@field text string

---@class eca.Found
---@field hits eca.Hit[]
---@field more integer hits left out
---@field fault? string

---@class eca.Search
---@field chat string
---@field list integer id of the location list
---@field at integer the entry of the last jump

local searches = {} ---@type table<integer, eca.Search> by window
local entered = {} ---@type table<integer, boolean> windows just entered from their list

local buffers = require('eca.chat.buffers')
local others = require('eca.ui.others')
local transcript = require('eca.transcript')

---@param win integer
---@param what table
---@return table
local function list_of(win, what)
  return vim.fn.getloclist(win, vim.tbl_extend('force', { id = searches[win].list }, what))
end

--- Put the cursor on a line of an open block, if the window still shows the chat.
---@param win integer
---@param chat string
---@param hit eca.Hit
---@param row? integer row of its body
local function go_to(win, chat, hit, row)
  local buf = vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win)
  local is_its = buf and buf == (buffers.get(chat) or {}).buf
  local first = is_its and transcript.range(buf, hit.block)
  if not buf or not first then
    return
  end
  local place = transcript.block_at(buf, first)
  if row and place and place.header then
    row = row + 1
  end
  local line = math.min(first + (row or 0) + 1, vim.api.nvim_buf_line_count(buf))
  vim.api.nvim_win_set_cursor(win, { line, row and hit.column or 0 })
end

---@param win integer
---@param hit eca.Hit
local function reveal(win, hit)
  local chat = searches[win].chat
  local payload = { chat = chat, block = hit.block, row = hit.row }
  require('eca.host').ask('reveal', payload, function(row)
    if row or not hit.row then
      go_to(win, chat, hit, row)
    end
  end)
end

--- Called when the cursor moved: reveals the hit if the user jumped to it from the list.
local function moved()
  local win = vim.api.nvim_get_current_win()
  local search = searches[win]
  local index = search and list_of(win, { idx = 0 }).idx or 0
  if index == 0 then
    return
  end
  local from_list, is_other = entered[win], index ~= search.at
  entered[win], search.at = nil, index
  local item = list_of(win, { items = 0 }).items[index]
  local last = vim.api.nvim_buf_line_count(0)
  local there = vim.api.nvim_win_get_cursor(win)[1] == math.min(item.lnum, last)
  if there and (from_list or is_other) then
    reveal(win, item.user_data)
  end
end

local function arrived()
  local from = vim.fn.win_getid(vim.fn.winnr('#'))
  local win = vim.api.nvim_get_current_win()
  entered[win] = searches[win] and vim.fn.win_gettype(from) == 'loclist' or nil
end

---@param buf integer
---@param hits eca.Hit[]
---@return table[] items
local function items_of(buf, hits)
  return vim.tbl_map(function(hit)
    local first = transcript.range(buf, hit.shown) or 0
    local place = transcript.block_at(buf, first)
    if place and not place.header and hit.shown == hit.block then
      first = math.min(first + (hit.row or 0), place.last) -- a block without header is always open
    end
    local item = { bufnr = buf, lnum = first + 1, text = hit.text, user_data = hit }
    item.module = 'chat'
    return item
  end, hits)
end

--- Show the list below the chat. A chat that floats would cover it: then go to the first hit.
---@param win integer the transcript's, entered
---@param hits eca.Hit[]
local function open_list(win, hits)
  if vim.api.nvim_win_get_config(win).relative == '' then
    others.split_by('lopen', { mods = { split = 'belowright' } })
    return
  end
  reveal(win, hits[1])
  local line = #hits == 1 and '1 hit' or ('hit 1 of %d, :lnext goes to the next'):format(#hits)
  require('eca.ui.notify').info(line)
end

---@param chat string
---@param pattern string
---@param found eca.Found
local function show(chat, pattern, found)
  local windows = require('eca.window')
  if windows.chat_shown() ~= chat or not windows.shown() then
    require('eca.chat.open').chat(chat)
  end
  local win = windows.shown()
  if not win then
    return require('eca.ui.notify').warn('no room for the chat: close a window')
  end
  local buf = vim.api.nvim_win_get_buf(win)
  local items = items_of(buf, found.hits)
  vim.fn.setloclist(win, {}, ' ', { title = 'Eca grep ' .. pattern, items = items })
  local list = vim.fn.getloclist(win, { id = 0 }).id
  for other in pairs(searches) do
    if not vim.api.nvim_win_is_valid(other) then
      searches[other], entered[other] = nil, nil
    end
  end
  searches[win] = { chat = chat, list = list, at = 1 }
  local group = vim.api.nvim_create_augroup('eca.chat.search', { clear = false })
  vim.api.nvim_clear_autocmds({ group = group, buffer = buf })
  vim.api.nvim_create_autocmd('CursorMoved', { group = group, buffer = buf, callback = moved })
  vim.api.nvim_create_autocmd('WinEnter', { group = group, buffer = buf, callback = arrived })
  vim.api.nvim_set_current_win(win)
  open_list(win, found.hits)
  if found.more > 0 then
    require('eca.ui.notify').info(('%d more hits not listed'):format(found.more))
  end
end

--- Search the current chat for a regular expression.
---@param pattern? string
function M.run(pattern)
  local chat = require('eca.window').current_chat()
  if not chat or not pattern then
    require('eca.ui.notify').info(chat and 'usage: :Eca grep {pattern}' or 'no chat yet')
    return
  end
  local return_window = require('eca.ui.return_window')
  local asked = return_window.asked()
  require('eca.host').ask('grep', { chat = chat, pattern = pattern }, function(found)
    if not found then -- the host is gone
      return
    elseif found.fault then
      require('eca.ui.notify').warn(found.fault)
    elseif #found.hits == 0 then
      require('eca.ui.notify').info('not found: ' .. pattern)
    elseif return_window.may_focus(asked, 'the list') then
      show(chat, pattern, found)
    end
  end)
end

return M
