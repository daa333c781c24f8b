--- What the user says to something that waits: accept, reject, answer. One place for all keys.
---
--- Rules kept here: only what still waits is answered; a late word is told to the user instead of
--- being sent, and what he typed is his draft then.
local M = {}

--- Does it still wait?
---@param item { chat: string, id: string }
---@return boolean
function M.waits(item)
  for _, pending in ipairs(require('eca.mirror').pending(item.chat)) do
    if pending.id == item.id then
      return true
    end
  end
  return false
end

---@param item { chat: string, id: string }
---@param name string of the intent
---@param fields? table<string, any>
---@return boolean sent
local function send(item, name, fields)
  if not M.waits(item) then
    require('eca.notify').info('this does not wait for an answer any more')
    return false
  end
  local payload = vim.tbl_extend('error', { chat = item.chat, id = item.id }, fields or {})
  require('eca.host').send(name, payload)
  return true
end

--- Accept a tool call, for this session with `remember`.
---@param item { chat: string, id: string }
---@param remember? boolean
---@return boolean sent
function M.accept(item, remember)
  return send(item, 'approve', { remember = remember or false })
end

---@param item { chat: string, id: string }
---@return boolean sent
function M.reject(item)
  return send(item, 'reject')
end

--- What was typed for a request that is gone: it waits in the chat's input, above what is there.
---@param chat string
---@param reason string
function M.keep(chat, reason)
  local chats = require('eca.chats')
  local known = chats.get(chat) or chats.ensure(require('eca').current())
  require('eca.input').put_back(known.input, reason)
  require('eca.notify').warn('nothing waits for this any more: what you typed is in the input')
end

--- Reject, and say what to do instead. Nothing typed leaves it waiting.
---@param item { chat: string, id: string }
---@param done? fun() when it was sent
function M.reject_with_reason(item, done)
  vim.ui.input({ prompt = 'What to do instead: ' }, function(reason)
    if not reason or not reason:find('%S') then
      return
    elseif not M.waits(item) then
      M.keep(item.chat, reason)
    elseif send(item, 'reject', { reason = reason }) and done then
      done()
    end
  end)
end

--- Answer a question; nil cancels it.
---@param item { chat: string, id: string }
---@param text? string
---@return boolean sent
function M.answer(item, text)
  return send(item, 'answer', { text = text })
end

return M
