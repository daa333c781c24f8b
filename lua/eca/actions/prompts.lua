--- Actions on prompts: send, queue, take back, stop, recall.
local chats = require('eca.chat.buffers')
local eca = require('eca')
local field = require('eca.input.field')
local host = require('eca.host')
local input = require('eca.input')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')
local windows = require('eca.window')

local M = {}

--- The input of the current chat.
---@return integer? buf
local function input_buffer()
  local id = windows.current_chat()
  local chat = id and chats.get(id)
  return chat and chat.input
end

--- Ask for the arguments that the command in an input still needs.
---@param buf integer
---@return boolean asked
local function ask_arguments(buf)
  local arguments = package.loaded['eca.completion.arguments'] -- only then a command is known
  local chat = chats.of_buffer(buf)
  return arguments ~= nil and chat ~= nil and arguments.ask_for_draft(chat)
end

--- Send the prompt of a template if the draft names one.
---@param buf integer
---@param queue boolean
---@param send fun() called if it is a command of the agent
---@return boolean used
local function use_template(buf, queue, send)
  local may_name_one = vim.startswith(field.draft(buf), '/')
  return may_name_one and require('eca.actions.templates').submit(buf, queue, send)
end

--- Show the draft to plugins that complete it before it is gone. They look at what was typed when
--- no more keys follow, and would then open a menu for the empty input.
---@param buf? integer
local function end_typing(buf)
  local place = package.loaded['eca.completion.place']
  local typing = buf == vim.api.nvim_get_current_buf() and vim.api.nvim_get_mode().mode:find('^i')
  if typing and place and place.driver(buf) then
    others.call('TextChangedI', vim.api.nvim_exec_autocmds, 'TextChangedI', { buffer = buf })
  end
end

---@param queue boolean
local function submit(queue)
  local buf = input_buffer()
  end_typing(buf)
  local function send()
    if not buf or not input.submit(buf, queue) then
      notify.info('nothing to send: the input is empty')
    end
  end
  if buf and (ask_arguments(buf) or use_template(buf, queue, send)) then
    return
  end
  send()
end

--- Send the draft.
function M.submit()
  submit(false)
end

--- Send the draft when the running turn ends.
function M.queue()
  submit(true)
end

--- Take a queued prompt back into the input, or drop it.
---@param index? integer 1-based place in the queue; default: the last
---@param drop? boolean
function M.take_back(index, drop)
  local id = windows.current_chat()
  local queued = id and #mirror.queue(id) or 0
  index = index or queued
  if index < 1 or index > queued then
    notify.info(queued > 0 and 'no queued prompt with this number' or 'no queued prompt')
    return
  end
  host.send('unqueue', { chat = id, index = index, edit = not drop })
end

--- Take the last queued prompt back into the input.
function M.unqueue()
  M.take_back()
end

--- Stop the running turn.
function M.stop()
  local chat = windows.current_chat()
  if chat then
    eca.stop(chat) -- the host knows whether a turn is running
  else
    notify.info('no chat yet')
  end
end

---@param step -1|1
local function recall(step)
  local buf = input_buffer()
  if buf == vim.api.nvim_get_current_buf() then
    input.recall(buf, step)
  end
end

--- Put the previous prompt into the input.
function M.older()
  recall(-1)
end

--- Put the next prompt, or the draft, into the input.
function M.newer()
  recall(1)
end

return M
