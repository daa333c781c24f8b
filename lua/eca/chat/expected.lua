--- Statuses and requests as they will be when the host has handled what was sent to it.
---
--- Rules kept here:
--- - An intent counts as soon as it is sent, until the host confirms it. From then on the host's
---   state counts: a request whose answer was refused is pending again.
--- - Only the public API and `vim.g.eca_status` have it. The screen shows what the host has sent.
local held_intents = require('eca.host.held_intents')
local mirror = require('eca.state.mirror')

local M = {}

---@class eca.PublicChat
---@field id string
---@field title? string
---@field state eca.TurnState
---@field buf integer
---@field server_name string

---@param status eca.Status
local function answered(status)
  if status.state == 'waiting' and status.pending == 0 then
    status.state = status.elapsed and 'running' or 'idle'
  end
end

--- How an intent changes the status of its chat.
---@type table<string, fun(status: eca.Status, payload: table<string, any>)>
local CHANGES = {
  prompt = function(status, payload)
    if payload.text:find('%S') and status.state ~= 'login' then
      status.elapsed = status.elapsed or 0
      status.state = status.state == 'idle' and 'running' or status.state
    end
  end,
  stop = function(status)
    if status.elapsed or status.state == 'login' then
      status.state = 'stopping'
    end
  end,
  decide = answered,
  answer = answered,
}

--- Does an intent make a request not pending any more?
---@param item eca.Pending
---@return boolean
local function is_settled(item)
  for _, intent in ipairs(held_intents.unconfirmed) do
    local sent = intent.payload
    local is_meant = sent.block == item.block and sent.digest == item.digest
    if sent.chat == item.chat and (intent.name == 'stop' or is_meant) then
      return true
    end
  end
  return false
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

---@class eca.PublicChoice
---@field id string
---@field name string the agent's own words
---@field kind eca.ChoiceKind

---@class eca.PublicPending
---@field chat string
---@field id string opaque and unique
---@field digest string of all that it shows, and of what the user takes of it
---@field kind 'approval'|'question'
---@field title string
---@field detail? string
---@field choices? eca.PublicChoice[] of an approval
---@field hunks? eca.PublicHunk[] of a change that can be allowed in part

---@class eca.PublicHunk
---@field n integer counted through all files of the call
---@field path string
---@field header string its row in a unified diff
---@field taken boolean false: the user has left it out

---@param hunk eca.Hunk
---@return eca.PublicHunk
local function public_hunk(hunk)
  return { n = hunk.n, path = hunk.path, header = hunk.header, taken = hunk.taken }
end

--- The pending requests as other code gets them, oldest first.
---@return eca.PublicPending[]
function M.public()
  return vim.tbl_map(function(item)
    local public = { chat = item.chat, id = item.id, kind = item.kind, digest = item.digest }
    public.title, public.detail = item.title, item.detail
    public.choices = item.choices
      and vim.tbl_map(function(choice)
        return { id = choice.id, name = choice.name, kind = choice.kind }
      end, item.choices)
    public.hunks = item.hunks and vim.tbl_map(public_hunk, item.hunks)
    return public
  end, M.pending())
end

--- The status of a chat.
---@param chat? string
---@return eca.Status
function M.status(chat)
  local status = mirror.status(chat)
  for _, intent in ipairs(held_intents.unconfirmed) do
    if intent.payload.chat == chat then
      status.pending = #M.pending(chat)
      CHANGES[intent.name](status, intent.payload)
    end
  end
  return status
end

--- Publish the status of the current chat, for status lines.
function M.publish()
  vim.g.eca_status = M.status(require('eca.window').current_chat())
end

return M
