--- Questions to the host that are answered with a number: each answer goes to its callback.
local M = {}

local callbacks = {} ---@type table<integer, fun(value: any)>
local last = 0

--- A number for an intent that is to be answered.
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

--- Ask for a chat as Markdown.
---@param chat string
---@param callback fun(markdown: string)
function M.transcript(chat, callback)
  send('transcript', { chat = chat }, callback)
end

--- Ask for something that the user chooses from: what is drawn comes first, then the callback.
---@param name string of the intent
---@param payload table<string, any>
---@param callback fun(value: any) nil when there is no answer; why has been told
function M.ask(name, payload, callback)
  send(name, payload, vim.schedule_wrap(callback))
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
