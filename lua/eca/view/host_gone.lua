--- Updates the view when the host is gone: nothing is running or pending any more, and no text is
--- lost.
---
--- Rules kept here:
--- - The view is changed by the same ops that a host would send, so no other file needs to know.
--- - Events come last, so that listeners find the new state.
local M = {}

--- The id of the block for messages about the host; the host's own blocks are numbered from 1.
local NOTE = 0
local BUILD = "%s in the input runs it: pip gets it, into a folder of the plugin's own"

---@param ops eca.Op[]
local function draw(ops)
  require('eca.view.frames').apply(nil, ops)
end

--- The ops that end the turn of a chat.
---@param id string
---@return eca.Op[]
local function end_of_turn(id)
  local mirror, ops = require('eca.state.mirror'), {}
  local waiting = {} ---@type string[]
  for _, prompt in ipairs(mirror.chat(id).queue) do
    waiting[#waiting + 1] = prompt[1] ~= 'note' and prompt[2] or nil
  end
  if #waiting > 0 then
    ops[1] = { op = 'input', chat = id, text = table.concat(waiting, '\n') }
  end
  local status = mirror.status(id)
  status.state, status.pending = 'idle', 0
  status.elapsed, status.starting, status.silent = nil, nil, nil
  status.activity, status.retrying = nil, nil
  return vim.list_extend(ops, {
    { op = 'queue', chat = id, prompts = {} },
    { op = 'plan', chat = id },
    { op = 'status', chat = id, status = status },
  })
end

--- The ops that set the state of all servers.
---@return eca.Op[]
local function servers_down()
  local mirror = require('eca.state.mirror')
  local in_use = mirror.servers_in_use()
  local state = require('eca.host.python').building and 'building' or 'failed'
  return vim.tbl_map(function(name)
    return { op = 'server', server = name, state = state, label = mirror.server(name).label }
  end, #in_use > 0 and in_use or { mirror.server_name() })
end

--- Show in every chat why the host is not running, because a message may be cut.
---@param fault? string nil: it starts again, so the fault is no more
function M.note(fault)
  local buffers = require('eca.chat.buffers')
  local line = require('eca.ui.sanitize').line(fault or '')
  draw(fault and servers_down() or {})
  for _, id in ipairs(buffers.ids()) do
    local about = { chat = id, block = NOTE }
    local function op(name, fields)
      return vim.tbl_extend('error', { op = name }, about, fields or {})
    end
    if require('eca.transcript').range(buffers.get(id).buf, NOTE) then
      draw({ op('remove') })
    end
    if fault then
      local lines = { line } ---@type string[]
      if require('eca.host').can_build() then
        local input = buffers.ensure(id).input
        local send = require('eca.ui.keys').of(input, 'n', 'Submit', '<CR>') or ':Eca install'
        lines[2] = BUILD:format(send)
      end
      draw({
        op('open', { kind = 'note' }),
        op('body', { lines = lines, marks = { { 0, 0, -1, 'EcaError' } } }),
        op('close'),
      })
    end
  end
end

--- Show that the host is gone: turns are over, nothing is pending, and queued prompts are back in
--- the input.
function M.show()
  local mirror, buffers = require('eca.state.mirror'), require('eca.chat.buffers')
  local ops, events = servers_down(), {} ---@type eca.Op[], eca.Op[]
  for _, op in ipairs(vim.list_slice(ops)) do
    local server = op.server
    ops[#ops + 1] = { op = 'work', server = server, titles = {} }
    local jobs, runs = vim.deepcopy(mirror.server(server).jobs), false
    for _, job in ipairs(jobs) do
      runs = runs or job.state == 'running'
      job.state = job.state == 'running' and 'killed' or job.state
    end
    events[#events + 1] = runs and { op = 'jobs', server = server, jobs = jobs } or nil
  end
  for _, it in ipairs(require('eca.state.tool_servers').all()) do
    local told = vim.tbl_extend('force', it, { status = 'removed' })
    ops[#ops + 1] = { op = 'tool_server', told = told }
  end
  for _, item in ipairs(mirror.pending()) do
    if item.kind == 'approval' then
      local data = { chat = item.chat, id = item.id, outcome = 'gone' }
      events[#events + 1] = { op = 'emit', event = 'EcaApprovalResolved', data = data }
    end
  end
  ops[#ops + 1] = { op = 'pending', items = {} }
  for _, id in ipairs(buffers.ids()) do
    local buf, transcript = buffers.get(id).buf, require('eca.transcript')
    if vim.api.nvim_buf_is_loaded(buf) and transcript.is_lost(buf) then
      ops[#ops + 1] = { op = 'clear', chat = id } -- who had its text has not drawn it again
    end
    -- the headers that the host has sent in advance for blocks in progress
    for _, block in ipairs(transcript.unfinished(buf)) do
      ops[#ops + 1] = { op = 'header', chat = id, block = block.id, header = block.header }
    end
    if mirror.status(id).state ~= 'idle' then
      local data = { chat = id, reason = 'gone' }
      events[#events + 1] = { op = 'emit', event = 'EcaTurnFinished', data = data }
    end
    vim.list_extend(ops, end_of_turn(id))
    require('eca.state.used_files').forget(id) -- another host counts from 1 again
  end
  draw(vim.list_extend(ops, events))
  local commit = package.loaded['eca.commit'] -- late: not before there is one
  if commit then
    commit.host_gone()
  end
  local notes = package.loaded['eca.review.notes'] -- late: not before there is one
  if notes then
    notes.host_gone()
  end
  local preview = package.loaded['eca.preview'] -- late: not before there is one
  if preview then
    preview.host_gone()
  end
end

return M
