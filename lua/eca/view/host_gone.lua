--- Updates the view when the host is gone: nothing is running or pending any more, and no text is
--- lost.
---
--- Rules kept here:
--- - The view is changed by the same ops that a host would send, so no other file needs to know.
--- - Events come last, so that listeners find the new state.
local M = {}

--- Draw the headers that the host has sent in advance for blocks in progress.
---@param id string
local function stop_blocks(id)
  local buf = require('eca.chat.buffers').get(id).buf
  for _, block in ipairs(require('eca.transcript').unfinished(buf)) do
    require('eca.view.ops').draw({ 'header', id, block.id, block.header })
  end
end

---@param id string
local function end_turn(id)
  local mirror, draw = require('eca.state.mirror'), require('eca.view.ops').draw
  local waiting = vim.tbl_map(function(prompt)
    return prompt[2]
  end, mirror.queue(id))
  if #waiting > 0 then
    draw({ 'input', id, table.concat(waiting, '\n') })
  end
  local status = mirror.status(id)
  status.state, status.pending = 'idle', 0
  status.elapsed, status.starting, status.silent = nil, nil, nil
  status.activity, status.retrying = nil, nil
  draw({ 'queue', id, {} })
  draw({ 'plan', id, nil })
  require('eca.state.used_files').forget(id) -- another host counts from 1 again
  draw({ 'status', id, status })
end

---@param waiting eca.Pending[]
---@param at_work string[] chats
local function emit_events(waiting, at_work)
  local draw = require('eca.view.ops').draw
  for _, item in ipairs(waiting) do
    if item.kind == 'approval' then
      local data = { chat = item.chat, id = item.id, outcome = 'gone' }
      draw({ 'emit', 'EcaApprovalResolved', data })
    end
  end
  for _, id in ipairs(at_work) do
    draw({ 'emit', 'EcaTurnFinished', { chat = id, reason = 'gone' } })
  end
end

--- The id of the block for messages about the host; the host's own blocks are numbered from 1.
local NOTE = 0

--- Show in every chat why the host is not running, because a message may be cut.
---@param fault? string nil: it starts again, so the fault is no more
function M.note(fault)
  local draw, buffers = require('eca.view.ops').draw, require('eca.chat.buffers')
  local line = require('eca.ui.sanitize').line(fault or '')
  for _, id in ipairs(buffers.ids()) do
    if fault then
      draw({ 'open', id, NOTE, 'note', {}, 0, nil })
      draw({ 'body', id, NOTE, { line }, { { 0, 0, -1, 'EcaError' } }, nil })
      draw({ 'close', id, NOTE })
    elseif require('eca.transcript').range(buffers.get(id).buf, NOTE) then
      draw({ 'remove', id, NOTE })
    end
  end
end

--- Show that the host is gone: turns are over, nothing is pending, and queued prompts are back in
--- the input.
function M.show()
  local mirror, draw = require('eca.state.mirror'), require('eca.view.ops').draw
  local ids, waiting = require('eca.chat.buffers').ids(), mirror.pending()
  local at_work = vim.tbl_filter(function(id)
    return mirror.status(id).state ~= 'idle'
  end, ids)
  local in_use = mirror.servers_in_use()
  for _, server in ipairs(#in_use > 0 and in_use or { mirror.server_name() }) do
    draw({ 'server', 'failed', mirror.server(server).label, server })
    draw({ 'work', {}, server })
  end
  vim.iter(ids):each(stop_blocks)
  draw({ 'pending', {} })
  vim.iter(ids):each(end_turn)
  emit_events(waiting, at_work)
end

return M
