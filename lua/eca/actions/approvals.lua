--- Actions on pending requests: allow, reject, answer, show the diff.
local approval = require('eca.approval')
local blocks = require('eca.actions.blocks')
local choose = require('eca.ui.choose')
local decide = require('eca.input.decide')
local diff = require('eca.diff')
local float = require('eca.approval.float')
local guard = require('eca.consent.guard')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local question = require('eca.approval.question')
local transcript = require('eca.transcript')
local windows = require('eca.window')

local M = {}

--- What the keys of a pending block do elsewhere in the transcript: go to the request.
M.GO_TO_REQUEST = "<Cmd>lua require('eca.actions.approvals').go_to_request()<CR>"

local arrived = nil ---@type eca.Guard? since such a key led the user to the request

--- The block under the cursor, when the cursor is in a transcript.
---@return eca.BlockPlace?
local function block_here()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  return transcript.block_at(vim.api.nvim_get_current_buf(), row)
end

--- The pending tool call of the block under the cursor.
---@return eca.Pending?
local function waiting_here()
  local block = block_here()
  for _, item in ipairs(block and mirror.pending(block.chat) or {}) do
    if item.block == block.id and item.kind == 'approval' then
      return item
    end
  end
end

--- Is the cursor on the block of a pending tool call?
---@return boolean
function M.on_waiting_block()
  return waiting_here() ~= nil
end

--- The tool call that has been pending for longest, in a chat or in any.
---@param chat? string
---@return eca.Pending?
local function oldest(chat)
  for _, item in ipairs(mirror.pending(chat)) do
    if item.kind == 'approval' then
      return item
    end
  end
end

--- The tool call that the user means: that of the block under the cursor, else the one asked about
--- on the screen, else the oldest.
---@return eca.Pending?
local function chosen()
  local shown = approval.shown()
  local item = waiting_here() or (shown and shown.kind == 'approval' and shown)
  return item or oldest(windows.current_chat()) or oldest()
end

--- The tool call that a key answers. A key pressed too soon after the request appeared was meant
--- for something else; then a message says so.
---@return eca.Pending?
local function meant()
  local item = chosen()
  local seen = item
    and approval.guard_is_over(item)
    and (waiting_here() or approval.front_guard_is_over())
    and (not arrived or guard.is_over(arrived))
  if not item then
    notify.info('no pending request')
  elseif not seen or not diff.guard_is_over(item) then
    notify.info('the request has just appeared: press again to answer')
  else
    return item
  end
end

--- Answer the tool call that the user means.
---@param answer fun(item: eca.Pending)
local function with_meant(answer)
  local item = meant()
  if item then
    answer(item)
  end
end

--- Go to the float, the diff or the block that asks.
function M.focus()
  local item = approval.focus()
  if item then
    blocks.go_to(item.chat, item.block)
  end
end

--- Go there by a key that answers only there: the guard time begins again, so that typing on
--- answers nothing.
function M.go_to_request()
  arrived = guard.begin()
  M.focus()
  float.guard()
end

--- Allow the tool call.
function M.approve()
  with_meant(decide.accept)
end

--- Allow it and others like it in this session.
function M.remember()
  with_meant(function(item)
    decide.accept(item, true)
  end)
end

--- Answer by one of the agent's choices: the one a count names, else one from a list.
function M.choose()
  local number = vim.v.count
  with_meant(function(item)
    local choices = item.choices or {}
    if number > 0 then
      decide.choose_named(item, tostring(number))
      return
    end
    choose.one(choices, {
      prompt = item.title,
      format_item = decide.listed,
    }, function(choice)
      if choice then
        decide.choose(item, choice)
      end
    end)
  end)
end

--- Allow all pending calls of the current chat.
function M.approve_all()
  local chat = windows.current_chat()
  if not chat or approval.accept_all(chat) == 0 then
    notify.info('no pending request in this chat')
  end
end

--- Reject the tool call.
function M.reject()
  with_meant(decide.reject)
end

--- Ask what to do instead, then reject. If nothing is typed the call stays pending.
function M.reject_reason()
  with_meant(decide.reject_with_reason)
end

--- Show the diff of the tool call under the cursor, else of the pending one.
function M.diff()
  local block, item = block_here(), chosen()
  local pending = item and { item.chat, item.block }
  if block then
    local wanted = { chat = block.chat, block = block.id, instead = pending }
    diff.ask('diff', wanted)
  elseif pending then
    diff.ask('diff', { chat = pending[1], block = pending[2] })
  else
    notify.info('no diff to show')
  end
end

--- Answer the pending question.
function M.answer()
  question.open()
end

return M
