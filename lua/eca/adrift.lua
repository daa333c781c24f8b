--- The view without its host: nothing runs or waits any more, and no text is lost.
---
--- Rules kept here: the view is told by ops, as by the host, so that nothing else must know.
local M = {}

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

--- Show that the host is gone: turns are over, nothing waits for the user, unsent prompts are back
--- in the input.
function M.show()
  local draw = require('eca.ops').draw
  draw({ 'server', 'failed', '' })
  draw({ 'pending', {} })
  vim.iter(require('eca.chats').ids()):each(calm)
end

return M
