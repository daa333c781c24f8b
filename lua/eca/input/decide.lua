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

---@class eca.Choosing
---@field count integer answers that the host owes
---@field failed? boolean one was a refusal
---@field allow? fun(now: eca.Pending) allows the request as it is then

--- Requests whose hunks the user has just chosen, by id: what allows one waits until the host has
--- said what stands.
---@type table<string, eca.Choosing>
M.choosing = {}

local refusals = {} ---@type (fun(item: eca.Request, allows?: boolean): string?)[]

--- Ask a function before a request is answered. It returns why that cannot be now, in one line.
---@param refusal fun(item: eca.Request, allows?: boolean): string?
function M.refuse_if(refusal)
  refusals[#refusals + 1] = refusal
end

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
---@param allows? boolean it allows the request
---@return string?
local function fault_of(item, allows)
  local now = M.now(item)
  if not now then
    return 'this request is no longer pending'
  elseif now.digest ~= item.digest then
    return 'this request has changed since you saw it, look again'
  end
  for _, refusal in ipairs(refusals) do
    local fault = refusal(item, allows)
    if fault then
      return fault
    end
  end
end

---@param item eca.Request
---@param name string of the intent
---@param fields? table<string, any>
---@param allows? boolean
---@return boolean sent
local function send(item, name, fields, allows)
  local choosing = allows and M.choosing[item.id]
  if choosing then
    choosing.allow = function(now)
      send(now, name, fields, allows)
    end
    return false
  end
  local fault = fault_of(item, allows)
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

--- The choices of a kind that the request offers now.
---@param item eca.Request
---@param kind eca.ChoiceKind
---@return eca.ApprovalChoice[]
local function of_kind(item, kind)
  local now, found = M.now(item), {} ---@type eca.Pending?, eca.ApprovalChoice[]
  for _, choice in ipairs(now and now.choices or {}) do
    found[#found + 1] = choice.kind == kind and choice or nil
  end
  return found
end

--- The choice of a kind if there is exactly one: a key may stand for it.
---@param item eca.Request
---@param kind eca.ChoiceKind
---@return eca.ApprovalChoice?
function M.only(item, kind)
  local found = of_kind(item, kind)
  return #found == 1 and found[1] or nil
end

--- Answer a tool call by one of its choices.
---@param item eca.Request
---@param choice? eca.ApprovalChoice nil: reject it
---@param reason? string what to do instead
---@return boolean sent
function M.choose(item, choice, reason)
  local allows = choice ~= nil and choice.kind:find('^allow') ~= nil
  return send(item, 'decide', { choice = choice and choice.id, reason = reason }, allows)
end

--- What a choice does, in a word of our own: its name is the agent's.
---@type table<eca.ChoiceKind, string>
M.WORDS = {
  allow_once = 'allow',
  allow_always = 'always',
  reject_once = 'reject',
  reject_always = 'never',
}

--- A choice in a list: our word for its kind comes first.
---@param choice eca.ApprovalChoice
---@return string
function M.listed(choice)
  return ('%-6s  %s'):format(M.WORDS[choice.kind], choice.name)
end

--- Answer a tool call by the number of a choice, its kind, or its id. A number and the name of a
--- kind are never taken for an id: ids are words of the agent, and may look like either.
---@param item eca.Pending
---@param name string
---@return boolean sent
function M.choose_named(item, name)
  local choices = item.choices or {}
  local kind = M.WORDS[name] ~= nil
  local found = vim.tbl_filter(function(each)
    return each[kind and 'kind' or 'id'] == name
  end, choices)
  if name:find('^%d+$') then
    found = { choices[tonumber(name)] }
  end
  if #found == 1 then
    return M.choose(item, found[1])
  end
  local offered = {} ---@type string[]
  for number, each in ipairs(choices) do
    offered[number] = ('%d %s %s'):format(number, M.WORDS[each.kind], each.name)
  end
  local fault = #found > 1 and "several choices are '%s', name one by its number: %s"
    or "there is no choice '%s', but %s"
  require('eca.ui.notify').warn(fault:format(name, table.concat(offered, ', ')))
  return false
end

--- Allow a tool call. Sends nothing if the agent offers no such choice, or several.
---@param item eca.Request
---@param always? boolean others like it, too
---@return boolean sent
function M.accept(item, always)
  local found = of_kind(item, always and 'allow_always' or 'allow_once')
  if #found == 1 or fault_of(item, true) then
    return send(item, 'decide', { choice = found[1] and found[1].id }, true)
  end
  local why = 'this request cannot be allowed once: choose an answer with :Eca choose'
  if #found > 1 then
    why = 'this can be allowed in several ways: choose one with :Eca choose'
  elseif always then
    why = 'this request cannot be allowed always: allow it once'
  end
  require('eca.ui.notify').info(why)
  return false
end

--- Reject a tool call this time.
---@param item eca.Request
---@param reason? string what to do instead
---@return boolean sent
function M.reject(item, reason)
  return M.choose(item, of_kind(item, 'reject_once')[1], reason)
end

--- Put text that was typed for a request and cannot be sent into the chat's input, above the draft.
---@param chat string
---@param reason string
---@param fault string why, in one line
function M.keep(chat, reason, fault)
  local current = require('eca.window').current_chat()
  local known = buffers.restored(chat) or buffers.ensure(current or buffers.new())
  field.put_back(known.input, reason)
  require('eca.ui.notify').warn(fault .. ': what you typed is in the input')
end

--- Reject and send what to do instead. If nothing is typed the request stays pending.
---@param item eca.Request
function M.reject_with_reason(item)
  require('eca.ui.choose').line({ prompt = 'What to do instead: ' }, function(reason)
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
---@param text? string nil: cancel it, or decline a form or a link
---@return boolean sent
function M.answer(item, text)
  return send(item, 'answer', { text = text })
end

--- Answer a form's field by the numbers of its choices.
---@param item eca.Request
---@param numbers integer[]
---@return boolean sent
function M.pick(item, numbers)
  return send(item, 'answer', { picked = numbers })
end

--- Have the field before asked again.
---@param item eca.Request
---@return boolean sent
function M.previous_field(item)
  return send(item, 'previous_field')
end

return M
