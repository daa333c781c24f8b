--- Questions to the host that are answered with a number: each answer goes to its callback.
local M = {}

local callbacks = {} ---@type table<integer, fun(value: any)>
local last = 0

--- Ask for a chat as Markdown.
---@param chat string
---@param callback fun(markdown: string)
function M.transcript(chat, callback)
  last = last + 1
  callbacks[last] = callback
  require('eca.host').send('transcript', { chat = chat, request = last })
end

--- An answer arrived (op `answer`); one that nobody waits for any more is dropped.
---@param request integer
---@param value any
function M.answered(request, value)
  local callback = callbacks[request]
  callbacks[request] = nil
  if callback then
    callback(value)
  end
end

return M
