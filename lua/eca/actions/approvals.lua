--- Actions on pending requests: allow, reject, answer, show the diff.
local approval = require('eca.approval')
local blocks = require('eca.actions.blocks')
local choose = require('eca.ui.choose')
local decide = require('eca.input.decide')
local diff = require('eca.diff')
local edits = require('eca.diff.edits')
local float = require('eca.approval.float')
local guard = require('eca.consent.guard')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local plan = require('eca.approval.plan')
local question = require('eca.approval.question')
local transcript = require('eca.transcript')
local windows = require('eca.window')

local M = {}

--- Since a key that answers only on its block has led the user there.
local arrived = nil ---@type eca.Guard?

--- The tool call that the user means: that of the block under the cursor, else the one asked about
--- on the screen, else the oldest.
---@return eca.Pending?
local function chosen()
  local calls = vim.tbl_filter(function(item)
    return item.kind == 'approval' and approval.is_asked_here(item)
  end, mirror.pending())
  return blocks.pending_here('approval') or approval.meant(calls)
end

--- The tool call that a key answers. A key pressed too soon after the request appeared was meant
--- for something else; then a message says so.
---@return eca.Pending?
local function meant()
  local item = chosen()
  local seen = item
    and approval.guard_is_over(item)
    and (blocks.pending_here('approval') or approval.front_guard_is_over())
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
---@param answer 'accept'|'reject'|'reject_with_reason' a function of `eca.input.decide`
---@param ... any
function M.answer_call(answer, ...)
  local item = meant()
  if item then
    decide[answer](item, ...)
  end
end

--- Leave out the hunk under the cursor of a change that waits, or take it again. The last rows of
--- its block are those of the request.
function M.toggle_hunk()
  local item, block = blocks.pending_here('approval'), blocks.here()
  local seen = item and approval.guard_is_over(item)
  if not item or not block then
    notify.info('no hunk of a pending change under the cursor')
  elseif not seen or arrived and not guard.is_over(arrived) then
    notify.info('the request has just appeared: press again')
  else
    local _, last = transcript.range(vim.api.nvim_get_current_buf(), block.id)
    local row = #(item.lines or {}) - 1 - ((last or 0) - (vim.api.nvim_win_get_cursor(0)[1] - 1))
    local is_header = block.header == vim.api.nvim_win_get_cursor(0)[1] - 1
    edits.toggle(item, not is_header and row or nil)
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

--- Answer by one of the agent's choices: the one a count names, else one from a list.
function M.choose()
  local number, item = vim.v.count, meant()
  if not item then
    return
  elseif number > 0 then
    return decide.choose_named(item, tostring(number))
  end
  choose.one(item.title, item.choices or {}, decide.listed, function(choice)
    decide.choose(item, choice)
  end)
end

--- Allow all pending calls of the current chat.
function M.approve_all()
  local chat = windows.current_chat()
  if not chat or approval.accept_all(chat) == 0 then
    notify.info('no pending request in this chat')
  end
end

--- Show the diff of the tool call under the cursor, else of the pending one. Of a plan or an answer
--- that is its text, to change it.
function M.diff()
  local block, item = blocks.here(), chosen()
  if item and item.plan and (not block or block.id == item.block) then
    plan.open(item.chat)
  elseif block and not item and block.kind == 'assistant' then
    plan.open(block.chat, block.id)
  elseif block then
    local instead = item and { item.chat, item.block }
    diff.ask('diff', { chat = block.chat, block = block.id, instead = instead })
  elseif item then
    diff.ask('diff', { chat = item.chat, block = item.block })
  else
    notify.info('no diff to show')
  end
end

--- Show the plan of the current chat.
function M.plan()
  plan.open()
end

M.answer = question.open

return M
