--- Actions on what waits for the user's word: accept, reject, answer, look at the diff.
local answers = require('eca.input.decide')
local approval = require('eca.approval')
local blocks = require('eca.actions.blocks')
local diff = require('eca.diff')
local float = require('eca.approval.float')
local guard = require('eca.ui.guard')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local question = require('eca.approval.question')
local transcript = require('eca.transcript')
local windows = require('eca.window')

local M = {}

--- What a key of what waits is mapped to where it does not answer.
M.COME = "<Cmd>lua require('eca.actions.approvals').come()<CR>"

local came = nil ---@type eca.Guard? since such a key led the user to what waits

--- The block under the cursor, when the cursor is in a transcript.
---@return eca.BlockPlace?
local function block_here()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  return transcript.block_at(vim.api.nvim_get_current_buf(), row)
end

--- What waits for approval in the block under the cursor.
---@return eca.Pending?
local function waiting_here()
  local block = block_here()
  for _, item in ipairs(block and mirror.pending(block.chat) or {}) do
    if item.block == block.id and item.kind == 'approval' then
      return item
    end
  end
end

--- Is the cursor on a block that waits for approval?
---@return boolean
function M.on_waiting_block()
  return waiting_here() ~= nil
end

--- What waits for approval in a chat, or in any, longest.
---@param chat? string
---@return eca.Pending?
local function oldest(chat)
  for _, item in ipairs(mirror.pending(chat)) do
    if item.kind == 'approval' then
      return item
    end
  end
end

--- What the user means: the block under the cursor, else what is asked on the screen, else what
--- waits longest.
---@return eca.Pending?
local function chosen()
  local shown = approval.shown()
  local item = waiting_here() or (shown and shown.kind == 'approval' and shown)
  return item or oldest(windows.current_chat()) or oldest()
end

--- What a key answers: one that comes too soon after it came up was meant for something else.
---@return eca.Pending?
local function meant()
  local item = chosen()
  local known = item and approval.ripe(item) and (waiting_here() or approval.settled())
  known = known and (not came or guard.is_over(came))
  if not item then
    notify.info('nothing waits for approval')
  elseif not known or not diff.ripe(item) then
    notify.info('this has only just come up: look first')
  else
    return item
  end
end

--- Answer what is meant.
---@param answer fun(item: eca.Pending)
local function decide(answer)
  local item = meant()
  if item then
    answer(item)
  end
end

--- Go to what asks: the float, else the block that waits.
function M.focus()
  local item = approval.focus()
  if item then
    blocks.go_to(item.chat, item.block)
  end
end

--- Go there with a key that answers only there. Who types on answers nothing at once.
function M.come()
  came = guard.begin()
  M.focus()
  float.guard()
end

--- Accept what is meant.
function M.approve()
  decide(answers.accept)
end

--- Accept it, and the like for this session.
function M.remember()
  decide(function(item)
    if item.remember then
      answers.accept(item, true)
    else
      notify.info('there is nothing new to remember: only accept it')
    end
  end)
end

--- Accept all that waits in the current chat.
function M.approve_all()
  local chat = windows.current_chat()
  local accepted, left = 0, 0
  if chat then
    accepted, left = approval.accept_all(chat)
  end
  if accepted + left == 0 then
    notify.info('nothing waits for approval in this chat')
  elseif left > 0 then
    notify.info(('%d only just came up: look first'):format(left))
  end
end

--- Reject what is meant.
function M.reject()
  decide(answers.reject)
end

--- Ask what to do instead, then reject; nothing typed leaves it pending.
function M.reject_reason()
  decide(answers.reject_with_reason)
end

--- Show the diff of the tool call under the cursor; where there is none, of what is asked.
function M.diff()
  local block, item = block_here(), chosen()
  local waits = item and { item.chat, item.block }
  if block then
    local wanted = { chat = block.chat, block = block.id, instead = waits }
    diff.ask('diff', wanted)
  elseif waits then
    diff.ask('diff', { chat = waits[1], block = waits[2] })
  else
    notify.info('there is no diff to show')
  end
end

--- Answer the question that waits.
function M.answer()
  question.open()
end

return M
