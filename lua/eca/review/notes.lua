--- What the user has said of the changes of a chat: what he did with them, and his comments.
---
--- Rules kept here:
--- - It outlives the list in which he said it: the host's key names a change in the next one, too.
--- - A comment goes when it is sent or taken back, in no other way but with its chat.
--- - The host knows best what there is: a change that is listed was neither kept nor taken back.
local chats = require('eca.chat.buffers')
local comment_text = require('eca.review.comments')
local drafts = require('eca.input.drafts')
local notify = require('eca.ui.notify')

local M = {}

---@class eca.Said
---@field words table<string, string> what was done with a change, by its key
---@field comments table<string, eca.Comment> not sent yet, by key

local by_chat = {} ---@type table<string, eca.Said>

--- What was said in a chat so far.
---@param chat string
---@return eca.Said
function M.of(chat)
  by_chat[chat] = by_chat[chat] or { words = {}, comments = {} }
  return by_chat[chat]
end

--- Comment on a change, or take the comment back.
---@param chat string
---@param key string
---@param comment? eca.Comment
function M.comment(chat, key, comment)
  M.of(chat).comments[key] = comment
  drafts.changed(chat)
end

--- The comments of a chat were sent.
---@param chat string
function M.sent(chat)
  M.of(chat).comments = {}
  drafts.changed(chat)
end

--- The prompt that would say all comments of a chat; empty when there is none.
---@param chat string
---@return string
function M.prompt(chat)
  local comments = vim.tbl_values(M.of(chat).comments)
  table.sort(comments, function(one, other)
    local left, right = one.change, other.change
    if left.turn ~= right.turn then
      return left.turn < right.turn
    end
    return left.path == right.path and one.line < other.line or left.path < right.path
  end)
  return comment_text.prompt(comments)
end

--- How many comments of a chat wait, in words; nil when none does.
---@param chat string
---@return string?
function M.waiting(chat)
  local count = vim.tbl_count(M.of(chat).comments)
  if count > 0 then
    return count == 1 and '1 comment waits' or ('%d comments wait'):format(count)
  end
end

--- Take that changes are listed anew; those that are not, though a comment on them waits, are given
--- back.
---@param chat string
---@param changes eca.Change[]
---@param turn? integer the only one that is listed
---@return eca.Change[]
function M.listed(chat, changes, turn)
  local said, keys = M.of(chat), {} ---@type eca.Said, table<string, true>
  for _, change in ipairs(changes) do
    keys[change.key] = true
    said.words[change.key] = said.words[change.key] == 'sent' and 'sent' or nil
    if said.comments[change.key] then
      said.comments[change.key].change = change
    end
  end
  local others = {} ---@type eca.Change[]
  for key, comment in pairs(said.comments) do
    local change = comment.change
    if not keys[key] and (not turn or change.turn == turn) then
      others[#others + 1] = change
      if change.kind ~= 'turn' then
        said.words[key] = said.words[key] or 'gone'
      end
    end
  end
  return others
end

--- A chat is closed; what was said in it goes when it is there no more.
---@param event { data: { chat: string } }
local function closed(event)
  local chat = event.data.chat
  vim.schedule(function()
    if by_chat[chat] and not chats.get(chat) then
      local waiting = M.waiting(chat)
      by_chat[chat] = nil
      if waiting then
        notify.warn(('%s no more: the chat is deleted'):format(waiting))
      end
    end
  end)
end

drafts.add_source(M.prompt) -- comments that are not sent are kept as what is typed

vim.api.nvim_create_autocmd('User', {
  group = vim.api.nvim_create_augroup('eca.review.notes', {}),
  pattern = 'EcaChatClosed',
  callback = closed,
})

return M
