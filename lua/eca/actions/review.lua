--- Actions on the tools' changes: list, keep, revert, comment, undo.
local conflicts = require('eca.review.conflicts')
local files = require('eca.review.files')
local notify = require('eca.ui.notify')
local review = require('eca.review')
local undo = require('eca.review.undo')
local windows = require('eca.window')

local M = {}

--- Run something with the current chat; shows a message if there is none.
---@param run fun(chat: string)
local function with_chat(run)
  local chat = windows.current_chat()
  if chat then
    run(chat)
  else
    notify.info('no chat yet')
  end
end

--- List the changes of the chat's tools.
---@param turn? integer
function M.changes(turn)
  with_chat(function(chat)
    review.open(chat, turn)
  end)
end

--- Keep the change under the cursor.
function M.keep()
  review.keep()
end

--- Revert the change under the cursor.
function M.revert()
  review.revert()
end

--- Comment on the change under the cursor.
function M.comment()
  review.comment()
end

--- Send all comments.
function M.send()
  review.send()
end

--- Undo a turn, after a confirmation.
---@param turn? integer default: the last one that changed something
function M.undo(turn)
  with_chat(function(chat)
    undo.open(chat, turn)
  end)
end

--- List the files that the agent has used.
function M.files()
  with_chat(function(chat)
    files.open(chat)
  end)
end

--- Resolve a file that changed on disk while its buffer has unsaved changes.
function M.conflicts()
  conflicts.choose()
end

return M
