--- Requests to the host: each has a number, by which its answer finds the callback.
local held_intents = require('eca.host.held_intents')
local host = require('eca.host')

local M = {}

--- Request a chat as Markdown.
---@param chat string
---@param callback fun(markdown: string)
function M.transcript(chat, callback)
  host.send('transcript', { chat = chat, request = held_intents.expect(callback) })
end

--- Request something. The callback is scheduled, so that ops sent with the answer are drawn first.
---@param name string of the intent
---@param payload table<string, any>
---@param callback fun(value: any) nil if it failed; the host has shown why
function M.ask(name, payload, callback)
  payload.request = held_intents.expect(vim.schedule_wrap(callback))
  host.send(name, payload)
end

return M
