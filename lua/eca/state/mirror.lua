--- What the host last told: a copy for reading, so that no public function ever waits.
---
--- Rules kept here:
--- - Only ops write here. Absent values are nil; `vim.NIL` is taken out on the way in.
local M = {}

--- What a chat without a title is called.
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
---@field pending integer approvals and questions that wait
---@field tokens? integer
---@field limit? integer
---@field cost? string dollars
---@field elapsed? integer ms since the turn began
---@field activity? string what the agent says it is doing
---@field retrying? boolean it tries again what failed

--- What an answer names.
---@class eca.Request
---@field chat string
---@field block integer
---@field id string of this request only, in all of a Neovim
---@field digest string of all that is shown of it; it changes with that

---@class eca.Pending: eca.Request
---@field call string the agent's id of the call or question; another item may have the same
---@field kind 'approval'|'question'
---@field title string
---@field detail? string
---@field lines? string[]
---@field titled? boolean its lines begin with all that the title says
---@field marks? any[]
---@field language? string
---@field remember? string[]
---@field warnings? string[] what to look at twice
---@field tool? string
---@field agent? string the subagent that asks
---@field paths? string[] of the files whose changes the diff tab shows
---@field options? [string, string][]
---@field freeform? boolean

--- The agent's plan in one line.
---@class eca.Plan
---@field block integer where the list is
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
---@field work string[] what the agent does in the background
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

--- A value as it came over the wire, without `vim.NIL` at any depth.
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
  for _, told in ipairs({ state.statuses, state.queues, state.plans, state.usages }) do
    told[chat] = nil
  end
end

--- Op `pending`: a number stands for so many items of the list before, which stay or, below 0, go.
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

--- State of the agent's process, and what it is called.
---@return { state: eca.ServerState, label: string }
function M.server()
  return state.server
end

--- The status of a chat, all required fields set even when nothing was told yet.
---@param chat? string
---@return eca.Status
function M.status(chat)
  local told = chat and state.statuses[chat] or {}
  local status = { state = 'idle', trust = false, pending = 0 }
  status = vim.tbl_extend('force', status, told)
  status.chat = chat
  status.server = state.server.state
  return status
end

--- What a chat is called.
---@param chat string
---@return string
function M.title(chat)
  return M.status(chat).title or M.UNTITLED
end

--- What a chat does, without the rest of its status.
---@param chat string
---@return eca.TurnState
function M.turn(chat)
  local told = state.statuses[chat]
  return told and told.state or 'idle'
end

--- What waits for the user's word, oldest first; of one chat, or of all.
---@param chat? string
---@return eca.Pending[]
function M.pending(chat)
  return vim.tbl_filter(function(item)
    return chat == nil or item.chat == chat
  end, state.pending)
end

--- Prompts that wait for the turn, oldest first.
---@param chat string
---@return [string, string][]
function M.queue(chat)
  return state.queues[chat] or {}
end

--- The agent's plan, if it has one.
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

--- Titles of what the agent does in the background, oldest first.
---@return string[]
function M.work()
  return state.work
end

--- What the user may choose from.
---@return eca.Choices
function M.choices()
  return state.choices
end

return M
