--- One prompt without a screen: sends it, waits for the turn's end, prints the chat, exits.
---
--- Rules kept here:
--- - Exit code 0 only when the turn finished by itself and there is an answer: text of the model,
---   or something it did; to a command, what the server says is answer enough. Else 1, and why on
---   standard error; the chat, as far as it goes, on standard output.
--- - Nobody is there to ask: what waits for approval is rejected, unless ECA_APPROVE is 1, and
---   questions and logins are cancelled.
local answers = require('eca.input.decide')
local chats = require('eca.chat.buffers')
local eca = require('eca')
local host = require('eca.host')
local mirror = require('eca.state.mirror')
local scan = require('eca.text.scan')
local transcript = require('eca.transcript')

local M = {}

local GONE = 'the server is gone'
local PATIENCE = 2000 -- ms to wait for the chat's text at the end

local complaints = {} ---@type table<string, true>

--- Say what is wrong, each thing once.
---@param text string
local function complain(text)
  local line = text:gsub('%c+', ' ')
  if not complaints[line] then
    complaints[line] = true
    io.stderr:write('eca: ', line, '\n')
  end
end

--- What is told beside the chat goes to standard error, in lines.
local function listen()
  rawset(vim, 'notify', function(line, level) -- as plugins that show messages do
    if level >= vim.log.levels.WARN then
      complain((line:gsub('^eca: ', '')))
    end
  end)
end

---@param code integer
local function exit(code)
  io.stdout:flush()
  vim.schedule(function()
    vim.cmd.cquit({ count = code, bang = true })
  end)
end

--- Say why the server is gone, in the words that the chat ends with.
---@param chat string
local function complain_of_end(chat)
  local buf = chats.ensure(chat).buf
  local row = transcript.find(buf, vim.api.nvim_buf_line_count(buf), 'note', -1)
  local block = row and transcript.block_at(buf, row)
  if block then
    local lines = vim.api.nvim_buf_get_lines(buf, block.first, block.last + 1, false)
    vim.tbl_map(complain, lines)
  end
end

--- Print the chat, then exit; without the chat when the host cannot tell it any more.
---@param chat string
---@param fault? string
local function finish(chat, fault)
  local function leave()
    if fault == GONE then
      complain_of_end(chat)
    end
    if fault then
      complain(fault)
    end
    exit(fault and 1 or 0)
  end
  if host.has_failed() then
    vim.schedule(leave) -- after the reason
    return
  end
  vim.defer_fn(leave, PATIENCE)
  eca.transcript(chat, function(markdown)
    io.stdout:write(scan.trim(markdown), '\n')
    leave()
  end)
end

---@param item eca.Pending
local function decide(item)
  local allowed = vim.env.ECA_APPROVE == '1'
  local word = allowed and 'accepted' or 'rejected, as nobody can be asked'
  complain(('%s: %s'):format(item.title, item.kind == 'question' and 'not answered' or word))
  if item.kind == 'question' then
    answers.answer(item)
  elseif allowed then
    eca.approve({ id = item.id })
  else
    eca.reject({ id = item.id })
  end
end

--- Decide on all that waits, each once.
---@param decided table<string, true>
local function decide_all(decided)
  for _, item in ipairs(mirror.pending()) do
    if not decided[item.id .. item.digest] then
      decided[item.id .. item.digest] = true
      decide(item)
    end
  end
end

---@param event string|string[]
---@param callback fun(data: table)
local function on(event, callback)
  vim.api.nvim_create_autocmd('User', {
    pattern = event,
    callback = function(fired)
      vim.schedule(function()
        callback(fired.data or {})
      end)
    end,
  })
end

--- What counts as an answer. Where the model fails, a server may end the turn as if nothing were
--- wrong, with a note.
local ANSWERS = { 'assistant', 'tool', 'tasks', 'question', 'image', 'link' }

---@param chat string
---@param prompt string
---@return boolean
local function answered(chat, prompt)
  local buf = chats.ensure(chat).buf
  local is_command = prompt:find('^%s*/') ~= nil
  return is_command
    or vim.iter(ANSWERS):any(function(kind)
      return transcript.find(buf, 0, kind, 1) ~= nil
    end)
end

--- Why a turn that has ended is no success; nil when it is one.
---@param chat string
---@param prompt string
---@param reason string
---@return string?
local function fault_of(chat, prompt, reason)
  if reason ~= 'done' then
    return 'the turn ended: ' .. reason
  end
  return not answered(chat, prompt) and 'the model did not answer' or nil
end

--- Run a prompt and end Neovim.
---@param prompt? string
function M.run(prompt)
  if not prompt or not prompt:find('%S') then
    complain('there is no prompt')
    return exit(1)
  end
  listen()
  local chat ---@type string
  local decided = {} ---@type table<string, true>
  local ended = false
  ---@param fault? string
  local function finish_once(fault)
    if not ended then
      ended = true
      finish(chat, fault)
    end
  end
  on({ 'EcaApprovalRequested', 'EcaQuestionAsked' }, function()
    decide_all(decided)
  end)
  on('EcaStatusChanged', function(data)
    if data.status.state == 'login' then
      complain('nobody is there to log in')
      eca.stop(data.chat)
    end
  end)
  on('EcaTurnFinished', function(data)
    finish_once(fault_of(chat, prompt, data.reason or 'done'))
  end)
  on('EcaServerExited', function()
    finish_once(GONE)
  end)
  -- Last, as what cannot start is told at once.
  chat = eca.new()
  if not host.has_failed() then
    eca.send(prompt, { chat = chat })
  end
end

return M
