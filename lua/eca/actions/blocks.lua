--- Actions in the transcript: open and close blocks, jump, follow links, yank code.
local chats = require('eca.chat.buffers')
local decoration = require('eca.transcript.decoration')
local eca = require('eca')
local external = require('eca.ui.external')
local fences = require('eca.markdown.fences')
local host = require('eca.host')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local question = require('eca.approval.question')
local reference = require('eca.chat.reference')
local register = require('eca.ui.register')
local return_window = require('eca.ui.return_window')
local transcript = require('eca.transcript')
local windows = require('eca.window')

local M = {}

---@return integer 0-based
local function cursor_row()
  return vim.api.nvim_win_get_cursor(0)[1] - 1
end

--- The block under the cursor, when the cursor is in a transcript.
---@return eca.BlockPlace?
function M.here()
  return transcript.block_at(vim.api.nvim_get_current_buf(), cursor_row())
end

--- The pending request of the block under the cursor, if it is of this kind.
---@param kind 'approval'|'question'
---@return eca.Pending?
function M.pending_here(kind)
  local block = M.here()
  for _, item in ipairs(block and mirror.pending(block.chat) or {}) do
    if item.block == block.id and item.kind == kind then
      return item
    end
  end
end

--- Open or close the block under the cursor.
---@param open? boolean nil: toggle
function M.set_open(open)
  local block = M.here()
  if not block or not block.header then
    return
  end
  -- The body under the cursor is about to be hidden, so go to the header.
  if open ~= true then
    vim.api.nvim_win_set_cursor(0, { block.header + 1, 0 })
  end
  host.send('toggle', { chat = block.chat, block = block.id, open = open })
end

--- Open or close all blocks of the chat.
---@param open boolean
function M.set_all_open(open)
  local chat = chats.of_buffer(vim.api.nvim_get_current_buf())
  if chat then
    host.send('toggle', { chat = chat.id, block = 0, open = open })
  end
end

--- The row of the cursor in a block's body.
---@param block eca.BlockPlace
---@return integer? row 0-based; nil: the header
local function body_row(block)
  local row = cursor_row() - (block.header and block.header + 1 or block.first)
  return row >= 0 and row or nil
end

--- Show the file that the host knows to be meant at the cursor, else the one that the text names.
---@param block? eca.BlockPlace
---@param otherwise fun() called if there is neither
local function show_file(block, otherwise)
  local asked, named = return_window.asked(), reference.under_cursor()
  local function show(place)
    local file = place or named
    if not file then
      otherwise()
    elseif return_window.may_focus(asked, 'the file') then
      reference.show(file)
    end
  end
  if not block or block.kind ~= 'tool' then
    return show()
  end
  local payload = { chat = block.chat, block = block.id, row = body_row(block) }
  payload.column = vim.api.nvim_win_get_cursor(0)[2]
  host.ask('place', payload, show)
end

--- Open the file meant under the cursor in a code window, at its line. Anywhere on the header of a
--- tool call it is the call's file.
function M.open_file()
  show_file(M.here(), function()
    notify.info('no file under the cursor')
  end)
end

local ACTS = { image = true, link = true }

--- Open the link or file under the cursor, answer a question, or open or close the block.
function M.act()
  local block = M.here()
  if not block then
    return
  end
  local url, asked = reference.url_under_cursor(), M.pending_here('question')
  local buf, column = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[2]
  local on_target = decoration.is_target(buf, cursor_row(), column)
  if ACTS[block.kind] then
    host.send('act', { chat = block.chat, block = block.id })
  elseif decoration.is_cut(buf, cursor_row()) then
    require('eca.chat.output').open(block.chat, block.id, body_row(block))
  elseif asked then
    question.open(asked)
  elseif block.kind == 'older' then
    host.send('older', { chat = block.chat })
  elseif block.kind == 'attempts' then
    require('eca.actions.prompts').step_answer(1)
  elseif block.header == cursor_row() and not on_target then
    M.set_open()
  elseif url then
    external.open(url)
  else
    show_file(block, function()
      local here = M.here()
      if here and here.id == block.id and here.chat == block.chat then
        M.set_open()
      end
    end)
  end
end

--- Open the link under the cursor or the only one in the line, or the block's link or image.
function M.open_link()
  local block = M.here()
  local here, only = reference.url_under_cursor()
  local url = here or only
  if block and ACTS[block.kind] then
    host.send('act', { chat = block.chat, block = block.id })
  elseif url then
    external.open(url)
  else
    notify.info('no link under the cursor, nor just one in the line')
  end
end

--- Yank the fenced code around the cursor, without its fences.
function M.yank_code()
  local lines = fences.lines(vim.api.nvim_get_current_buf(), cursor_row())
  if not lines then
    notify.info('no code block under the cursor')
    return
  end
  if register.yank(lines, 'V') then
    notify.info(('%d lines yanked'):format(#lines))
  end
end

---@param row? integer
---@param missing? string what to say without one
---@param step 1|-1
local function jump(row, missing, step)
  if row then
    vim.cmd("normal! m'")
    vim.api.nvim_win_set_cursor(0, { row + 1, 0 })
  elseif missing then
    notify.info(('no %s %s'):format(missing, step == 1 and 'below' or 'above'))
  end
end

--- Go to a block in its chat.
---@param chat string
---@param block? integer
function M.go_to(chat, block)
  eca.open({ chat = chat })
  local win = windows.shown()
  local row = block and transcript.range(chats.ensure(chat).buf, block)
  if win and row then
    vim.api.nvim_set_current_win(win)
    vim.api.nvim_win_set_cursor(win, { row + 1, 0 })
  end
end

--- Go to the agent's task list, and open it.
function M.tasks()
  local chat = windows.current_chat()
  local plan = chat and mirror.chat(chat).plan
  if not chat or not plan then
    notify.info('no task list yet')
    return
  end
  M.go_to(chat, plan.block)
  host.send('toggle', { chat = chat, block = plan.block, open = true })
end

--- Go to the next or previous block of a kind.
---@param kind 'user'|'flag'
---@param step 1|-1
function M.jump(kind, step)
  local buf = vim.api.nvim_get_current_buf()
  if transcript.is_transcript(buf) then
    local row = transcript.find(buf, cursor_row(), kind, step)
    jump(row, kind == 'flag' and 'flag' or nil, step)
  end
end

--- Go to the next or previous pending request of this chat.
---@param step 1|-1
function M.jump_to_request(step)
  local buf, nearest = vim.api.nvim_get_current_buf(), nil ---@type integer, integer?
  local chat = chats.of_buffer(buf)
  for _, item in ipairs(chat and mirror.pending(chat.id) or {}) do
    local row = item.block and transcript.range(buf, item.block)
    local is_beyond = row and (row - cursor_row()) * step > 0
    if is_beyond and (not nearest or (nearest - row) * step > 0) then
      nearest = row
    end
  end
  jump(nearest, 'pending request', step)
end

return M
