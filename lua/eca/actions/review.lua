--- Actions on the tools' changes: list, keep, revert, comment, undo.
local chats = require('eca.actions.chats')
local conflicts = require('eca.review.conflicts')
local files = require('eca.review.files')
local in_code = require('eca.review.in_code')
local review = require('eca.review')
local undo = require('eca.review.undo')

local M = {
  keep = review.keep,
  revert = review.revert,
  comment = review.comment,
  send = review.send,
  conflicts = conflicts.choose,
}

local LISTS = { changes = review, undo = undo, files = files }

--- Open a list of the current chat: what tools changed, what an undo of a turn would do, or which
--- files the agent has used.
---@param list 'changes'|'undo'|'files'
---@param turn? integer default: all; to undo, the last one that changed something
function M.open(list, turn)
  local chat = chats.current()
  if chat then
    LISTS[list].open(chat, turn)
  end
end

--- Show in the files what is not reviewed of the current chat, or end that.
---@param what? 'hide'
function M.in_code(what)
  local chat = what ~= 'hide' and chats.current()
  if what == 'hide' then
    in_code.hide()
  elseif chat then
    in_code.open(chat)
  end
end

--- Go to the next or previous change that is not reviewed; the first time the review begins.
---@param direction 1|-1
function M.jump(direction)
  if in_code.chat() then
    in_code.jump(direction)
  else
    M.in_code()
  end
end

--- List the changes of the chat's tools, or do something with the one under the cursor.
---@param what? integer|'keep'|'revert'|'comment'|'send' the number of a turn; default: all
---@param _? boolean
---@param call? eca.Call its range: the lines to comment on
function M.changes(what, _, call)
  if what == 'comment' and call and call.range > 0 then
    review.comment(call.line1, call.line2)
  elseif type(what) == 'string' then
    M[what]()
  else
    M.open('changes', what)
  end
end

return M
