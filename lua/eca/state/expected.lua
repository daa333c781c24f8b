--- Statuses and requests as they will be when the host has handled what was sent to it.
---
--- Rules kept here:
--- - An intent counts as soon as it is sent, until the host confirms it (op `answer`, with the
---   number of the intent). From then on the host's state counts: a request whose answer was
---   refused is pending again.
--- - Only the public API reads this. The screen shows what the host has sent.
local mirror = require('eca.state.mirror')

local M = {}

---@class eca.UnconfirmedIntent
---@field name string of the intent
---@field payload table<string, any>

local unconfirmed = {} ---@type eca.UnconfirmedIntent[] oldest first

---@param status eca.Status
---@param payload table<string, any>
local function prompted(status, payload)
  if not payload.text:find('%S') or status.state == 'login' then
    return
  end
  status.elapsed = status.elapsed or 0
  status.state = status.state == 'idle' and 'running' or status.state
end

---@param status eca.Status
local function stopped(status)
  if status.elapsed or status.state == 'login' then
    status.state = 'stopping'
  end
end

---@param status eca.Status
local function answered(status)
  if status.state == 'waiting' and status.pending == 0 then
    status.state = status.elapsed and 'running' or 'idle'
  end
end

--- How an intent changes the status of its chat. Other intents change nothing at once.
---@type table<string, fun(status: eca.Status, payload: table<string, any>)>
local CHANGES = {
  prompt = prompted,
  stop = stopped,
  decide = answered,
  answer = answered,
}

--- Does an intent make a request not pending any more?
---@param item eca.Pending
---@return boolean
local function is_settled(item)
  for _, intent in ipairs(unconfirmed) do
    local sent = intent.payload
    local is_meant = sent.block == item.block and sent.digest == item.digest
    if sent.chat == item.chat and (intent.name == 'stop' or is_meant) then
      return true
    end
  end
  return false
end

local current ---@type fun(): string?

--- Set the function that returns the current chat.
---@param current_chat fun(): string?
function M.ask_current(current_chat)
  current = current_chat
end

--- Publish the status of the current chat, for status lines.
function M.publish()
  vim.g.eca_status = M.status(current())
end

--- Called with an intent that is about to be sent: counts it if it changes something, and gives it
--- the number of its request.
---@param intent eca.UnconfirmedIntent
function M.add(intent)
  if not CHANGES[intent.name] then
    return
  end
  unconfirmed[#unconfirmed + 1] = intent
  intent.payload.request = require('eca.host.requests').expect(function()
    for place, other in ipairs(unconfirmed) do
      if other == intent then
        table.remove(unconfirmed, place)
        break
      end
    end
    M.publish()
  end)
  M.publish()
end

--- Called when the host is gone: what was sent to it does not count any more.
function M.forget()
  unconfirmed = {}
end

--- The pending requests of a chat, or of all, oldest first.
---@param chat? string
---@return eca.Pending[]
function M.pending(chat)
  local found = {} ---@type eca.Pending[]
  for _, item in ipairs(mirror.pending(chat)) do
    found[#found + 1] = not is_settled(item) and item or nil
  end
  return found
end

--- The status of a chat.
---@param chat? string
---@return eca.Status
function M.status(chat)
  local status = mirror.status(chat)
  for _, intent in ipairs(unconfirmed) do
    if intent.payload.chat == chat then
      status.pending = #M.pending(chat)
      CHANGES[intent.name](status, intent.payload)
    end
  end
  return status
end

return M
