--- Actions on prompts: send, queue, take back, stop, recall, choose one sent before, send the last
--- one again and go from one of its answers to another.
---
--- Rule kept here: what is typed in the input stays there when a prompt is sent again.
local chats = require('eca.chat.buffers')
local choose = require('eca.ui.choose')
local contexts = require('eca.context')
local eca = require('eca')
local field = require('eca.input.field')
local guard = require('eca.consent.guard')
local history = require('eca.input.history')
local host = require('eca.host')
local input = require('eca.input')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')
local return_window = require('eca.ui.return_window')
local scan = require('eca.text.scan')
local transcript = require('eca.transcript')
local windows = require('eca.window')

local M = {}

--- The current chat.
---@return eca.Chat?
local function current()
  local id = windows.current_chat()
  return id and chats.restored(id)
end

--- Show the draft to plugins that complete it before it is gone. They look at what was typed when
--- no more keys follow, and would then open a menu for the empty input.
---@param buf integer
local function end_typing(buf)
  local place = package.loaded['eca.completion.place']
  local typing = buf == vim.api.nvim_get_current_buf() and vim.api.nvim_get_mode().mode:find('^i')
  if typing and place and place.driver(buf) then
    local options = { buffer = buf, modeline = false }
    others.call('TextChangedI', vim.api.nvim_exec_autocmds, 'TextChangedI', options)
  end
end

--- Send the draft. First a command's missing arguments are asked for, and a template is filled in.
---@param queue boolean when the running turn ends
function M.submit(queue)
  local chat = current()
  if chat and chat.since and not queue and not guard.is_over(chat.since) then
    return notify.info('what the input takes has just changed: send again')
  elseif chat then
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

-- The answers to a prompt -----------------------------------------------------------------------

local KEEP, UNDO = 'keep the files as they are', 'undo what the answer changed, then ask again'

--- What happens when the user has decided about the files.
---@param chat string
---@param model? string|boolean
---@return eca.EditSteps
local function steps_of(chat, model)
  return {
    begins = function()
      return true
    end,
    ask = function(wanted, done)
      host.ask('retry', { chat = chat, model = model, tools = wanted.tools }, done)
    end,
    done = function(is_sent)
      if is_sent then
        input.show_end(chat)
      end
    end,
  }
end

--- Send the last prompt of the current chat again, as it was sent.
---@param word? string names the model to ask; default: the one that is selected
function M.retry(word)
  local chat = windows.current_chat()
  local first = chat and transcript.find(chats.ensure(chat).buf, -1, 'user', 1)
  if not chat or not first then
    return notify.info('nothing to send again: there is no prompt yet')
  end
  local undo = require('eca.review.undo') -- not before the first prompt is sent
  local model = require('eca.actions.options').meant_model(word, chat)
  local steps, asked = steps_of(chat, model), return_window.asked()
  host.ask('plan_undo', { chat = chat, since = 0, messages = true }, function(plan)
    if plan and not plan.rows[1] then
      undo.go_back({ chat = chat, block = 0, messages = true, tools = false }, steps)
    elseif plan and return_window.may_focus(asked, 'the question') then
      choose.one('The answer has changed files', { KEEP, UNDO }, tostring, function(item)
        if item == UNDO then
          undo.roll_back(chat, 0, true, steps)
        else
          undo.go_back({ chat = chat, block = 0, messages = true, tools = false }, steps)
        end
      end)
    end
  end)
end

--- Show the next or previous answer to the prompt under the cursor, else to the last one that has
--- several; the last one is followed by the first.
---@param step 1|-1
function M.step_answer(step)
  local win, buf = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
  local row = vim.api.nvim_win_get_cursor(win)[1] - 1
  local here = transcript.block_at(buf, row) or transcript.block_at(buf, row - 1)
  local chat = here and here.chat or windows.current_chat()
  if not chat then
    return notify.info('no chat yet')
  end
  local asked = return_window.asked()
  local wanted = { chat = chat, block = here and here.id or 0, step = step }
  host.ask('attempt', wanted, function(block)
    local first = block and transcript.range(buf, block)
    local is_here = vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win) == buf
    if first and is_here and not asked.typed then
      vim.api.nvim_win_set_cursor(win, { first + 1, 0 })
    end
  end)
end

return M
