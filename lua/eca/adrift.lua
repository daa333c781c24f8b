--- The view without its host: nothing runs or waits any more, and no text is lost.
---
--- Rules kept here:
--- - The view is told by ops, as by the host, so that nothing else must know.
--- - Events come last: who hears one finds the state that it tells of.
local M = {}

--- The host's own icon of a call that was stopped (`eca_nvim/chat/settings.py`).
local STOPPED = '⊘'

--- Let the block of what waited say that nobody can answer it any more.
---@param item eca.Pending
local function stop(item)
  local chat = require('eca.chats').get(item.chat)
  if chat and item.block and require('eca.transcript.places').range(chat.buf, item.block) then
    local icons = require('eca.config').get().icons
    local header = {
      { icons.stopped or STOPPED, 'EcaToolRejected' },
      { ' ' .. item.title, 'EcaToolName' },
      { ' stopped', 'EcaToolRejected' },
    }
    require('eca.ops').draw({ 'header', item.chat, item.block, header })
  end
end

---@param id string
local function calm(id)
  local mirror, draw = require('eca.mirror'), require('eca.ops').draw
  for _, prompt in ipairs(mirror.queue(id)) do
    draw({ 'input', id, prompt[2] })
  end
  local status = mirror.status(id)
  status.state, status.pending, status.elapsed, status.activity = 'idle', 0, nil, nil
  draw({ 'queue', id, {} })
  draw({ 'status', id, status })
end

---@param waiting eca.Pending[]
---@param at_work string[] chats
local function tell(waiting, at_work)
  local draw = require('eca.ops').draw
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

--- The block of what is told of the host; its own blocks are counted from 1.
local WORD = 0

--- Tell in every chat why the host does not run: a line of the editor may cut it, a chat does not.
---@param fault string
function M.note(fault)
  local draw = require('eca.ops').draw
  local line = require('eca.harmless').line(fault)
  for _, id in ipairs(require('eca.chats').ids()) do
    draw({ 'open', id, WORD, 'note', {}, 0, nil })
    draw({ 'body', id, WORD, { line }, { { 0, 0, -1, 'EcaError' } }, nil })
    draw({ 'close', id, WORD })
  end
end

--- Show that the host is gone: turns are over, nothing waits for the user, unsent prompts are back
--- in the input.
function M.show()
  local mirror, draw = require('eca.mirror'), require('eca.ops').draw
  local ids, waiting = require('eca.chats').ids(), mirror.pending()
  local at_work = vim.tbl_filter(function(id)
    return mirror.status(id).state ~= 'idle'
  end, ids)
  draw({ 'server', 'failed', '' })
  vim.iter(waiting):each(stop)
  draw({ 'pending', {} })
  vim.iter(ids):each(calm)
  tell(waiting, at_work)
end

return M
