--- Actions on what tools changed: list, keep, revert, comment, undo.
local M = {}

--- The chat the user means, when there is one.
---@param run fun(chat: string)
local function with_chat(run)
  local chat = require('eca.state.chats').current()
  if chat then
    run(chat)
  else
    require('eca.ui.notify').info('there is no chat yet')
  end
end

--- List the changes of the chat's tools.
---@param turn? integer
function M.changes(turn)
  with_chat(function(chat)
    require('eca.review').open(chat, turn)
  end)
end

--- Keep the change under the cursor.
function M.keep()
  require('eca.review').keep()
end

--- Revert the change under the cursor.
function M.revert()
  require('eca.review').revert()
end

--- Comment on the change under the cursor.
function M.comment()
  require('eca.review').comment()
end

--- Send all comments.
function M.send()
  require('eca.review').send()
end

--- Undo a turn, after a question.
---@param turn? integer default: the last that changed something
function M.undo(turn)
  with_chat(function(chat)
    require('eca.review.undo').open(chat, turn)
  end)
end

--- List the files that the chat's tools read and changed.
function M.files()
  with_chat(function(chat)
    require('eca.review.files').open(chat)
  end)
end

--- Say what becomes of a file that changed on disk under unsaved changes.
function M.conflicts()
  require('eca.review.conflicts').choose()
end

return M
