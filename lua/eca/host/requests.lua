--- Requests to the host: each has a number, by which its answer finds the callback.
local M = {}

local callbacks = {} ---@type table<integer, fun(value: any)>
local last = 0

--- Register a callback. Returns the number to send with the request.
---@param callback fun(value: any)
---@return integer
function M.expect(callback)
  last = last + 1
  callbacks[last] = callback
  return last
end

---@param name string of the intent
---@param payload table<string, any>
---@param callback fun(value: any)
local function send(name, payload, callback)
  payload.request = M.expect(callback)
  require('eca.host').send(name, payload)
end

--- Request a chat as Markdown.
---@param chat string
---@param callback fun(markdown: string)
function M.transcript(chat, callback)
  send('transcript', { chat = chat }, callback)
end

--- Request something. The callback is scheduled, so that ops sent with the answer are drawn first.
---@param name string of the intent
---@param payload table<string, any>
---@param callback fun(value: any) nil if it failed; the host has shown why
function M.ask(name, payload, callback)
  send(name, payload, vim.schedule_wrap(callback))
end

--- Called with an answer (op `answer`). An unknown number is ignored.
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
