--- Answers pending requests: accept, reject, answer. All keys and commands come here.
---
--- Rules kept here:
--- - Only a request that is still pending is answered. A late answer is not sent: a message says
---   so, and what the user typed is put into the input.
--- - An answer carries the digest of the request as it was shown. If the request has changed since,
---   nothing is sent and a message asks the user to look again. The host checks the same.
local buffers = require('eca.chat.buffers')
local field = require('eca.input.field')

local M = {}

local listeners = {} ---@type (fun(item: eca.Request))[]

--- Call a function after each answer that is sent.
---@param listener fun(item: eca.Request)
function M.on_answered(listener)
  listeners[#listeners + 1] = listener
end

--- The current version of a request; nil if it is not pending any more.
---@param item eca.Request
---@return eca.Pending?
function M.now(item)
  for _, pending in ipairs(require('eca.state.mirror').pending(item.chat)) do
    if pending.id == item.id then
      return pending
    end
  end
end

--- Why an answer to the request as it was shown may not be sent.
---@param item eca.Request
---@return string?
local function fault_of(item)
  local now = M.now(item)
  if not now then
    return 'this request is not pending any more'
  elseif now.digest ~= item.digest then
    return 'this request has changed since you saw it, look again'
  end
end

---@param item eca.Request
---@param name string of the intent
---@param fields? table<string, any>
---@return boolean sent
local function send(item, name, fields)
  local fault = fault_of(item)
  if fault then
    require('eca.ui.notify').warn(fault)
    return false
  end
  local named = { chat = item.chat, block = item.block, digest = item.digest }
  require('eca.host').send(name, vim.tbl_extend('error', named, fields or {}))
  for _, listener in ipairs(listeners) do
    listener(item)
  end
  return true
end

--- Accept a tool call; with `remember` for the rest of the session.
---@param item eca.Request
---@param remember? boolean
---@return boolean sent
function M.accept(item, remember)
  return send(item, 'approve', { remember = remember or false })
end

---@param item eca.Request
---@param reason? string what to do instead
---@return boolean sent
function M.reject(item, reason)
  return send(item, 'reject', { reason = reason })
end

--- Put text that was typed for a request and cannot be sent into the chat's input, above the draft.
---@param chat string
---@param reason string
---@param fault string why, in one line
function M.keep(chat, reason, fault)
  local current = require('eca.window').current_chat()
  local known = buffers.get(chat) or buffers.ensure(current or buffers.new())
  field.put_back(known.input, reason)
  require('eca.ui.notify').warn(fault .. ': what you typed is in the input')
end

--- Reject and send what to do instead. If nothing is typed the request stays pending.
---@param item eca.Request
function M.reject_with_reason(item)
  vim.ui.input({ prompt = 'What to do instead: ' }, function(reason)
    local fault = fault_of(item)
    if not reason or not reason:find('%S') then
      return
    elseif fault then
      M.keep(item.chat, reason, fault)
    else
      M.reject(item, reason)
    end
  end)
end

--- Answer a question.
---@param item eca.Request
---@param text? string nil: cancel it
---@return boolean sent
function M.answer(item, text)
  return send(item, 'answer', { text = text })
end

return M
