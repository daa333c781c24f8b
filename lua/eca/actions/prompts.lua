--- Actions on prompts: send, queue, take back, stop, recall, choose one sent before.
local chats = require('eca.chat.buffers')
local choose = require('eca.ui.choose')
local contexts = require('eca.context')
local eca = require('eca')
local field = require('eca.input.field')
local history = require('eca.input.history')
local host = require('eca.host')
local input = require('eca.input')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')
local scan = require('eca.text.scan')
local windows = require('eca.window')

local M = {}

--- The current chat.
---@return eca.Chat?
local function current()
  local id = windows.current_chat()
  return id and chats.get(id)
end

--- Show the draft to plugins that complete it before it is gone. They look at what was typed when
--- no more keys follow, and would then open a menu for the empty input.
---@param buf integer
local function end_typing(buf)
  local place = package.loaded['eca.completion.place']
  local typing = buf == vim.api.nvim_get_current_buf() and vim.api.nvim_get_mode().mode:find('^i')
  if typing and place and place.driver(buf) then
    others.call('TextChangedI', vim.api.nvim_exec_autocmds, 'TextChangedI', { buffer = buf })
  end
end

--- Send the draft. First a command's missing arguments are asked for, and a template is filled in.
---@param queue boolean when the running turn ends
function M.submit(queue)
  local chat = current()
  if chat then
    end_typing(chat.input)
  end
  local draft = chat and field.draft(chat.input) or ''
  local function send()
    local answers = chat and chat.question and not queue
    if chat and not answers and contexts.held(chat.id, draft) then
      return field.changed(chat.input) -- the line above it asks for the key again
    end
    local builds = host.can_build() -- the note in the chat says that this key does so
    if builds then
      require('eca.commands.plugin').install()
    end
    if not (chat and input.submit(chat, draft, queue)) and not builds then
      notify.info('nothing to send: the input is empty')
    end
  end
  if not chat or not vim.startswith(draft, '/') then
    return send()
  end
  local arguments = package.loaded['eca.completion.arguments'] -- only then a command is known
  if not (arguments and arguments.ask_for_draft(chat, draft)) then
    require('eca.actions.templates').submit(chat, draft, queue, send)
  end
end

--- Send a prompt that was typed on the command line, and scroll to the end so that the user sees
--- the answer.
---@param text string
---@param opts eca.SendOptions
function M.send(text, opts)
  opts.chat = opts.chat or eca.current()
  local item, word = mirror.secret(opts.chat), scan.trim(text)
  if item and not word:find('%s') then -- it may be the secret that the chat asks for
    if vim.fn.histget('cmd', -1):find(word, 1, true) then
      vim.fn.histdel('cmd', -1)
    end
    require('eca.input.secret').ask(item, word)
    return
  end
  local size = contexts.held(opts.chat, text)
  if size then
    notify.warn(('contexts take %s: it is in the input'):format(size))
    return field.put_back(chats.ensure(opts.chat).input, text)
  end
  eca.send(text, opts)
  input.show_end(opts.chat)
end

--- Take a queued prompt back into the input, or drop it.
---@param index? integer 1-based place in the queue; default: the last
---@param drop? boolean
function M.take_back(index, drop)
  local id = windows.current_chat()
  local queued = id and #mirror.chat(id).queue or 0
  index = index or queued
  if index < 1 or index > queued then
    notify.info(queued > 0 and 'no queued prompt with this number' or 'no queued prompt')
    return
  end
  host.send('unqueue', { chat = id, index = index, edit = not drop })
end

--- Stop the running turn.
function M.stop()
  local chat = windows.current_chat()
  if chat then
    host.send('stop', { chat = chat }) -- the host knows whether a turn is running
  else
    notify.info('no chat yet')
  end
end

--- Put an older or newer prompt, or the draft, into the input.
---@param step -1|1
function M.recall(step)
  local chat = current()
  if chat and chat.input == vim.api.nvim_get_current_buf() then
    input.recall(chat, step)
  end
end

--- Choose one of this project's prompts and put it into the input.
function M.choose()
  local prompts = history.newest_first()
  if #prompts == 0 then
    return notify.info('no prompts sent in this project yet')
  end
  choose.one('Prompts', prompts, function(prompt)
    local lines = vim.iter(vim.split(prompt, '\n', { plain = true })):map(scan.trim)
    return lines
      :filter(function(line)
        return line ~= ''
      end)
      :join(' ⏎ ')
  end, function(prompt)
    field.put_back(chats.ensure(eca.open()).input, prompt)
  end)
end

return M
