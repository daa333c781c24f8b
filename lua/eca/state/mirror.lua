--- A read-only copy of the host's state, so that no function has to wait for the host.
---
--- Rules kept here:
--- - Only ops write here. Missing values are nil; `vim.NIL` is removed.
local M = {}

--- The title of a chat that has none.
M.UNTITLED = 'New chat'

---@alias eca.ServerState 'stopped'|'starting'|'ready'|'failed'
---@alias eca.TurnState 'idle'|'running'|'stopping'|'waiting'|'login'

---@class eca.Status
---@field server eca.ServerState
---@field chat? string
---@field state eca.TurnState
---@field title? string
---@field model? string
---@field agent? string
---@field variant? string
---@field trust boolean
---@field pending integer number of pending approvals and questions
---@field tokens? integer
---@field limit? integer
---@field cost? string dollars
---@field elapsed? integer ms since the turn began
---@field activity? string what the agent is doing, in its own words
---@field lacks? eca.Ability[] what its server cannot do
---@field retrying? boolean it is retrying after a failure

--- What identifies a request in an answer.
---@class eca.Request
---@field chat string
---@field block integer
---@field id string unique in this Neovim
---@field digest string of everything that is shown of it

---@alias eca.ChoiceKind 'allow_once'|'allow_always'|'reject_once'|'reject_always'

--- An answer that the agent offers for a tool call.
---@class eca.ApprovalChoice
---@field id string
---@field name string the agent's own, one line
---@field kind eca.ChoiceKind
---@field remembers? string[] what this answer allows from now on

---@class eca.Pending: eca.Request
---@field call string the agent's id of the call or question, which may not be unique
---@field kind 'approval'|'question'
---@field title string
---@field detail? string
---@field lines? string[]
---@field titled? boolean its lines begin with the whole title
---@field marks? any[]
---@field language? string
---@field choices? eca.ApprovalChoice[] of an approval, in the agent's order
---@field listed? boolean the names of the choices say more than their kinds
---@field warnings? string[]
---@field tool? string
---@field agent? string the subagent that asks
---@field paths? string[] of the files whose changes the diff tab shows
---@field options? [string, string][]
---@field freeform? boolean

--- A summary of the agent's task list.
---@class eca.Plan
---@field block integer the block of the list
---@field done integer
---@field total integer
---@field doing? string

--- Text, highlight group, and for terminals that show it a colour (`#rrggbb`).
---@alias eca.UsageSegment [string, string, string?]

---@class eca.Choices
---@field models string[]
---@field agents string[]
---@field variants table<string, string[]> by model

---@class eca.Mirror
---@field server { state: eca.ServerState, label: string }
---@field statuses table<string, eca.Status> by chat
---@field pending eca.Pending[] oldest first, over all chats
---@field queues table<string, [string, string][]> by chat: 'steer' or 'queue', and the text
---@field plans table<string, eca.Plan> by chat
---@field usages table<string, eca.UsageSegment[][]> rows of a float, by chat
---@field work string[] titles of background jobs
---@field choices eca.Choices
local state = {
  server = { state = 'stopped', label = '' },
  statuses = {},
  pending = {},
  queues = {},
  plans = {},
  usages = {},
  work = {},
  choices = { models = {}, agents = {}, variants = {} },
}

--- A decoded value without `vim.NIL` at any depth.
---@param value any
---@return any
function M.clean(value)
  if value == vim.NIL then
    return nil
  end
  if type(value) ~= 'table' then
    return value
  end
  local copy = {}
  for key, item in pairs(value) do
    copy[key] = M.clean(item)
  end
  return copy
end

--- Op `status`.
---@param chat string
---@param status eca.Status
function M.set_status(chat, status)
  state.statuses[chat] = status
end

--- Op `forget`.
---@param chat string
function M.forget(chat)
  for _, by_chat in ipairs({ state.statuses, state.queues, state.plans, state.usages }) do
    by_chat[chat] = nil
  end
end

--- Op `pending`: a number n keeps the next n items of the old list; a negative one removes them.
---@param items (eca.Pending|integer)[]
function M.set_pending(items)
  local before, place, list = state.pending, 0, {} ---@type eca.Pending[], integer, eca.Pending[]
  for _, item in ipairs(items) do
    if type(item) == 'table' then
      list[#list + 1] = M.clean(item)
    else
      vim.list_extend(list, before, place + 1, place + math.max(item, 0))
      place = place + math.abs(item)
    end
  end
  state.pending = list
end

--- Op `queue`.
---@param chat string
---@param prompts [string, string][]
function M.set_queue(chat, prompts)
  state.queues[chat] = prompts
end

--- Op `plan`.
---@param chat string
---@param plan? eca.Plan
function M.set_plan(chat, plan)
  state.plans[chat] = plan
end

--- Op `usage`.
---@param chat string
---@param rows eca.UsageSegment[][]
function M.set_usage(chat, rows)
  state.usages[chat] = rows
end

--- Op `work`.
---@param titles string[]
function M.set_work(titles)
  state.work = titles
end

--- Op `choices`.
---@param choices eca.Choices
function M.set_choices(choices)
  state.choices = vim.tbl_extend('force', state.choices, choices)
end

--- Op `server`.
---@param server eca.ServerState
---@param label string
function M.set_server(server, label)
  state.server = { state = server, label = label }
end

--- The state of the server, and its name.
---@return { state: eca.ServerState, label: string }
function M.server()
  return state.server
end

--- The status of a chat. All required fields are set, even before the host has sent it.
---@param chat? string
---@return eca.Status
function M.status(chat)
  local received = chat and state.statuses[chat] or {}
  local status = { state = 'idle', trust = false, pending = 0 }
  status = vim.tbl_extend('force', status, received)
  status.chat = chat
  status.server = state.server.state
  return status
end

--- The title of a chat.
---@param chat string
---@return string
function M.title(chat)
  return M.status(chat).title or M.UNTITLED
end

--- The turn's state of a chat.
---@param chat string
---@return eca.TurnState
function M.turn(chat)
  local status = state.statuses[chat]
  return status and status.state or 'idle'
end

--- The pending requests of a chat, or of all, oldest first.
---@param chat? string
---@return eca.Pending[]
function M.pending(chat)
  return vim.tbl_filter(function(item)
    return chat == nil or item.chat == chat
  end, state.pending)
end

--- The queued prompts of a chat, oldest first.
---@param chat string
---@return [string, string][]
function M.queue(chat)
  return state.queues[chat] or {}
end

--- The summary of the agent's task list, if there is one.
---@param chat string
---@return eca.Plan?
function M.plan(chat)
  return state.plans[chat]
end

--- Tokens and cost as rows of a float; none when they are not known.
---@param chat string
---@return eca.UsageSegment[][]
function M.usage(chat)
  return state.usages[chat] or {}
end

--- Titles of the agent's background jobs, oldest first.
---@return string[]
function M.work()
  return state.work
end

--- What the user can choose from.
---@return eca.Choices
function M.choices()
  return state.choices
end

return M
