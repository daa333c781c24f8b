--- A read-only copy of the host's state, so that no function has to wait for the host.
---
--- Rules kept here:
--- - Only ops and answers of the host write here. Missing values are nil; `vim.NIL` is removed.
local servers = require('eca.state.servers')

local M = {}

--- The title of a chat that has none.
M.UNTITLED = 'New chat'

---@alias eca.ServerState 'stopped'|'starting'|'ready'|'failed'|'building'

--- An agent that nobody used was ended: to the outside it is stopped.
---@alias eca.ProcessState eca.ServerState|'asleep'
---@alias eca.TurnState 'idle'|'running'|'stopping'|'waiting'|'login'

---@class eca.Status
---@field server eca.ServerState
---@field server_name string
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
---@field cost? string amount
---@field currency? string of the cost; nil for dollars
---@field elapsed? integer ms since the turn began
---@field starting? integer ms since the server's process began to start
---@field silent? integer ms since the agent last said something of a turn, if that is long ago
---@field activity? string what the agent is doing, in its own words
---@field lacks? eca.Ability[] what its server cannot do
---@field retrying? boolean it is retrying after a failure
---@field unasked? string[] names of what is set and lets tools run without asking
---@field unreviewed? integer changes of its tools that are not reviewed, if that was asked
---@field asleep? boolean its server is stopped because nobody used it

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

--- A hunk of a change that waits, counted through all files of the call.
---@class eca.Hunk
---@field n integer
---@field path string
---@field header string its row in a unified diff
---@field taken boolean
---@field rows [integer, integer]|[] first and last of `lines` (0-based) that show it

---@class eca.Pending: eca.Request
---@field call string the agent's id of the call or question, which may not be unique
---@field kind 'approval'|'question'
---@field title string
---@field detail? string
---@field lines? string[]
---@field cut? boolean its lines are not all of it
---@field titled? boolean its lines have the whole title
---@field marks? any[]
---@field language? string
---@field diff_row? integer first of its lines that show changes; those before say something else
---@field hunks? eca.Hunk[] nil: it is allowed or rejected as a whole
---@field stands? string which of them are allowed, or that the user has edited it; nil: all
---@field taken_back? string our own: what the tool writes all the same
---@field choices? eca.ApprovalChoice[] of an approval, in the agent's order
---@field listed? boolean the names of the choices say more than their kinds
---@field warnings? string[]
---@field tool? string
---@field agent? string the subagent that asks
---@field paths? string[] of the files whose changes the diff tab shows
---@field plan? boolean it asks the user to agree to a plan
---@field options? [string, string][]
---@field freeform? boolean
---@field notes? string[] our own lines about a question
---@field fault? string our own: why the last answer does not fit
---@field typed? string that answer
---@field yes_no? boolean its options are yes and no
---@field place? string which field of how many: "2 of 5"
---@field empty? string what an empty answer does: "skip"
---@field back? boolean a field was asked before
---@field several? boolean several options can be picked
---@field picks? boolean options are answered by their numbers
---@field declines? boolean no answer is one, too
---@field secret? boolean the answer is hidden

--- A summary of the agent's task list.
---@class eca.Plan
---@field block integer the block of the list
---@field done integer
---@field total integer
---@field doing? string

--- Text, highlight group, and for terminals that show it a colour (`#rrggbb`).
---@alias eca.UsageSegment [string, string, string?]

--- A value that an option can have. Its name and description are one safe line each.
---@class eca.OptionOffer
---@field value string|boolean what is sent
---@field name string
---@field description? string
---@field group? string
---@field unasked? boolean with it tools run without asking
---@field unsure? boolean it is not known whether they do with it

--- What the user can set in a chat, as its agent offers it.
---@class eca.Option
---@field id string
---@field name string one safe line
---@field description? string one safe line
---@field command? 'model'|'agent'|'variant'|'trust' the subcommand of `:Eca` that sets it
---@field kind 'select'|'toggle'
---@field value string|boolean
---@field shown string the name of the value
---@field offers eca.OptionOffer[] of a select; none if any value may be tried

--- A command that a server runs or has run in the background.
---@class eca.Job
---@field id string unique while the host runs
---@field title string one safe line
---@field state 'running'|'completed'|'failed'|'killed'|'ended' the last: it is not known how
---@field background boolean it outlives its turn
---@field chat? string
---@field exit_code? integer
---@field started? number seconds since 1970

---@class eca.ServerProcess
---@field state eca.ProcessState
---@field label string the program, for the user
---@field work string[] titles of what it does in the background, oldest first
---@field jobs eca.Job[] oldest first
---@field providers eca.PublicProvider[] who offers its models, as far as that is known

--- A tool server of a server: one of MCP (kind 'mcp'), or the agent's own tools ('native').
---@class eca.ToolServer
---@field name string
---@field server_name string whose it is
---@field status string 'running', 'starting', 'failed', …
---@field kind 'mcp'|'native'|'' '' if not known
---@field tools integer how many
---@field error? string why it has failed

---@alias eca.CommentState 'unsent'|'sent'|'open'|'addressed'

--- What a comment is about.
---@class eca.CommentPlace
---@field paths string[] absolute
---@field line integer 1-based
---@field count integer lines, 0 if they are gone from there
---@field before? string[] what stood there before a tool changed it
---@field subject string what it is, if not lines of a file
---@field turn integer of the change, 0 if not known

---@class eca.Comment: eca.CommentPlace
---@field id string
---@field text string
---@field state eca.CommentState
---@field kept? boolean the host has it

--- What the host has sent of a chat.
---@class eca.MirroredChat
---@field comments eca.Comment[]
---@field unsent_comments integer how many of them were not sent yet
---@field status? eca.Status
---@field queue [string, string][] prompts, oldest first: 'steer', 'queue' or 'note', and the text
---@field plan? eca.Plan
---@field usage eca.UsageSegment[][] tokens and cost as rows of a float; none if not known
---@field options eca.Option[]
---@field unreviewed? integer changes that are not reviewed, if that was asked

local chats = {} ---@type table<string, eca.MirroredChat> by id
local servers_told = {} ---@type table<string, eca.ServerProcess> by name
local all_pending = {} ---@type eca.Pending[] oldest first, over all chats

--- Stand for what the host has not sent.
---@type eca.MirroredChat
local NO_CHAT = { queue = {}, usage = {}, options = {}, comments = {}, unsent_comments = 0 }
---@type eca.ServerProcess
local NO_SERVER = { state = 'stopped', label = '', work = {}, jobs = {}, providers = {} }

--- A decoded value without `vim.NIL` at any depth: the host leaves out keys without a value, but
--- an item of a list keeps its place.
---@param value any
---@return any
function M.clean(value)
  if value == vim.NIL then
    return nil
  elseif type(value) ~= 'table' then
    return value
  end
  local copy = {}
  for key, item in pairs(value) do
    copy[key] = M.clean(item)
  end
  return copy
end

--- What the host has sent of a chat.
---@param id? string
---@return eca.MirroredChat
function M.chat(id)
  return chats[id] or NO_CHAT
end

--- Set a part of what the host has sent of a chat.
---@param id string
---@param part 'status'|'queue'|'plan'|'usage'|'options'|'comments'|'unsent_comments'|'unreviewed'
---@param value any nil: there is none
function M.set(id, part, value)
  chats[id] = chats[id] or vim.deepcopy(NO_CHAT)
  chats[id][part] = value
end

--- Op `forget`.
---@param id string of a chat
function M.forget(id)
  chats[id] = nil
end

--- Op `pending`.
---@param items eca.Pending[] oldest first; with `gone` those that are new or changed, else all
---@param gone? string[] ids of those that do not wait any more
function M.set_pending(items, gone)
  local fresh, list = {}, {} ---@type table<string, eca.Pending>, eca.Pending[]
  for _, item in ipairs(items) do
    fresh[item.id] = M.clean(item)
  end
  for _, item in ipairs(gone and all_pending or {}) do
    if not vim.list_contains(gone, item.id) then
      list[#list + 1] = fresh[item.id] or item
      fresh[item.id] = nil
    end
  end
  for _, item in ipairs(items) do
    list[#list + 1] = fresh[item.id]
  end
  all_pending = list
end

--- The name of a chat's server; of one that the host does not know yet, and without a chat: of the
--- server of chats to come.
---@param chat? string
---@return string
function M.server_name(chat)
  local told = M.chat(chat).status
  return told and told.server_name or servers.next()
end

--- The process of a server.
---@param name? string default: that of the server of chats to come
---@return eca.ServerProcess
function M.server(name)
  return servers_told[name or servers.next()] or NO_SERVER
end

--- Set some of what the host has sent of a server.
---@param name string
---@param parts table<string, any> fields of `eca.ServerProcess`
function M.set_server(name, parts)
  servers_told[name] = vim.tbl_extend('force', M.server(name), parts)
end

--- The names of the servers that were started, and not ended by the user.
---@return string[]
function M.servers_in_use()
  local names = {} ---@type string[]
  for name, server in pairs(servers_told) do
    names[#names + 1] = server.state ~= 'stopped' and name or nil
  end
  return names
end

---@class eca.PublicProvider
---@field id string
---@field name string
---@field server_name string
---@field logged_in boolean
---@field source? string where its key comes from: "config", "login" or "env"
---@field expires? integer seconds since 1970
---@field models integer how many it offers

--- Who offers models, by the names of the servers, as far as that is known.
---@return eca.PublicProvider[]
function M.providers()
  local names, found = vim.tbl_keys(servers_told), {} ---@type string[], eca.PublicProvider[]
  table.sort(names)
  for _, name in ipairs(names) do
    for _, provider in ipairs(M.server(name).providers) do
      found[#found + 1] = vim.tbl_extend('error', provider, { server_name = name })
    end
  end
  return found
end

--- The status of a chat. All required fields are set, even before the host has sent it.
---@param chat? string
---@return eca.Status
function M.status(chat)
  local status = { state = 'idle', trust = false, pending = 0 }
  status = vim.tbl_extend('force', status, M.chat(chat).status or {})
  status.chat, status.server_name = chat, M.server_name(chat)
  local process = M.server(status.server_name).state
  status.unreviewed, status.asleep = M.chat(chat).unreviewed, process == 'asleep' or nil
  status.server = status.asleep and 'stopped' or process
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
  return (M.chat(chat).status or {}).state or 'idle'
end

--- The pending requests of a chat, or of all, oldest first.
---@param chat? string
---@return eca.Pending[]
function M.pending(chat)
  local found = {} ---@type eca.Pending[]
  for _, item in ipairs(all_pending) do
    found[#found + 1] = (chat == nil or item.chat == chat) and item or nil
  end
  return found
end

--- The oldest secret that a chat asks for, which is not typed into its input.
---@param chat string
---@return eca.Pending?
function M.secret(chat)
  for _, item in ipairs(all_pending) do
    if item.secret and item.chat == chat then
      return item
    end
  end
end

--- The commands that run in the background for a server, or for one of its chats.
---@param server string its name
---@param chat? string
---@return string[]
function M.jobs(server, chat)
  local found = {}
  for _, job in ipairs(M.server(server).jobs) do
    local runs = job.state == 'running' and job.background
    if runs and (not chat or job.chat == chat) then
      found[#found + 1] = job.title
    end
  end
  return found
end

---@class eca.PublicJob
---@field id string opaque and unique
---@field server_name string
---@field chat? string
---@field title string
---@field state 'running'|'completed'|'failed'|'killed'|'ended'
---@field exit_code? integer
---@field started? number seconds since 1970

--- All that servers run and have run in the background, also what ends with its turn.
---@param server? string the name of one of them
---@return eca.PublicJob[] server by server, oldest first
function M.public_jobs(server)
  local names = server and { server } or vim.tbl_keys(servers_told)
  local found = {} ---@type eca.PublicJob[]
  table.sort(names)
  for _, name in ipairs(names) do
    for _, job in ipairs(M.server(name).jobs) do
      local public = vim.deepcopy(job)
      public.background, public.server_name = nil, name
      found[#found + 1] = public
    end
  end
  return found
end

return M
