--- What the user's last words will have done: statuses and requests as they are about to be.
---
--- Rules kept here:
--- - What was sent to the host counts at once, until the host has done it (op `answer`, with the
---   number that the intent carried). Then its own word counts: an answer that it did not take
---   waits again.
--- - Only the public functions read this. What is drawn is what the host said.
local mirror = require('eca.state.mirror')

local M = {}

---@class eca.Mark
---@field name string of the intent
---@field payload table<string, any>

local marks = {} ---@type eca.Mark[] oldest first

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

--- What an intent does to the status of its chat; those that are not here change nothing at once.
---@type table<string, fun(status: eca.Status, payload: table<string, any>)>
local CHANGES = {
  prompt = prompted,
  stop = stopped,
  approve = answered,
  reject = answered,
  answer = answered,
}

--- Does nothing wait there any more when this is done?
---@param mark eca.Mark
---@param item eca.Pending
---@return boolean
local function settles(mark, item)
  local sent = mark.payload
  local is_meant = sent.block == item.block and sent.digest == item.digest
  return sent.chat == item.chat and (mark.name == 'stop' or is_meant)
end

local current ---@type fun(): string?

--- Name who knows the chat the user means.
---@param it fun(): string?
function M.ask_current(it)
  current = it
end

--- Tell the status of the chat the user means, for status lines.
function M.publish()
  vim.g.eca_status = M.status(current())
end

--- Count an intent that is about to be sent, if it changes something. It gets a number.
---@param mark eca.Mark
function M.add(mark)
  if not CHANGES[mark.name] then
    return
  end
  marks[#marks + 1] = mark
  mark.payload.request = require('eca.host.requests').expect(function()
    marks = vim.tbl_filter(function(other)
      return other ~= mark
    end, marks)
    M.publish()
  end)
  M.publish()
end

--- The host is gone: what it was sent comes to nothing.
function M.forget()
  marks = {}
end

--- What waits for the user's word, oldest first; of one chat, or of all.
---@param chat? string
---@return eca.Pending[]
function M.pending(chat)
  return vim.tbl_filter(function(item)
    return not vim.iter(marks):any(function(mark)
      return settles(mark, item)
    end)
  end, mirror.pending(chat))
end

--- The status of a chat.
---@param chat? string
---@return eca.Status
function M.status(chat)
  local status = mirror.status(chat)
  for _, mark in ipairs(marks) do
    if mark.payload.chat == chat then
      status.pending = #M.pending(chat)
      CHANGES[mark.name](status, mark.payload)
    end
  end
  return status
end

return M
