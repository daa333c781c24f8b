--- Runs one prompt without a screen: sends it, waits for the turn's end, prints the chat, exits.
---
--- Rules kept here:
--- - The exit code is 0 only if the turn ended by itself with an answer: text of the model, or
---   something it did. For a command, text of the server is enough. Otherwise it is 1, and the
---   reason is on standard error. The chat, as far as it goes, is on standard output.
--- - No user can be asked: tool calls that need approval are rejected unless ECA_APPROVE is 1, and
---   questions and logins are cancelled.
local chats = require('eca.chat.buffers')
local decide = require('eca.input.decide')
local eca = require('eca')
local host = require('eca.host')
local mirror = require('eca.state.mirror')
local scan = require('eca.text.scan')
local transcript = require('eca.transcript')

local M = {}

local GONE = 'the server exited'
local PATIENCE = 2000 -- ms to wait for the chat's text at the end

local complaints = {} ---@type table<string, true>

--- Write a complaint to standard error, each one once.
---@param text string
local function complain(text)
  local line = text:gsub('%c+', ' ')
  if not complaints[line] then
    complaints[line] = true
    io.stderr:write('eca: ', line, '\n')
  end
end

---@param code integer
local function exit(code)
  io.stdout:flush()
  vim.schedule(function()
    vim.cmd.cquit({ count = code, bang = true })
  end)
end

--- Write why the server exited: the last note of the chat.
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

--- Print the chat, then exit; without the chat if the host has failed.
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
    vim.schedule(leave) -- the reason is written first
    return
  end
  vim.defer_fn(leave, PATIENCE)
  eca.transcript(chat, function(markdown)
    io.stdout:write(scan.trim(markdown), '\n')
    leave()
  end)
end

---@param item eca.Pending
local function answer_pending(item)
  local allowed = vim.env.ECA_APPROVE == '1'
  local word = allowed and 'allowed' or 'rejected: no user to ask (ECA_APPROVE=1 allows all)'
  complain(('%s: %s'):format(item.title, item.kind == 'question' and 'not answered' or word))
  if item.kind == 'question' then
    decide.answer(item)
  elseif allowed then
    local first = 'allow_once' ---@type integer|string
    for number, choice in ipairs(item.choices or {}) do -- there may be several
      first = first == choice.kind and number or first
    end
    eca.choose({ id = item.id, choice = first })
  else
    eca.reject({ id = item.id })
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

--- Kinds of blocks that count as an answer. If the model fails, a server may end the turn normally
--- with a note.
local ANSWERS = { 'assistant', 'tool', 'tasks', 'question', 'image', 'link' }

--- Why a turn that has ended counts as a failure; nil if it does not.
---@param chat string
---@param turn { reason?: string, command?: boolean }
---@return string?
local function fault_of(chat, turn)
  if (turn.reason or 'done') ~= 'done' then
    return 'the turn ended: ' .. turn.reason
  end
  local is_answered = turn.command
    or vim.iter(ANSWERS):any(function(kind)
      return transcript.find(chats.ensure(chat).buf, 0, kind, 1) ~= nil
    end)
  return not is_answered and 'the model did not answer' or nil
end

--- Run a prompt and end Neovim.
---@param prompt? string
function M.run(prompt)
  if not prompt or not prompt:find('%S') then
    complain('no prompt given')
    return exit(1)
  end
  -- What Neovim would show goes to standard error, as plugins that show messages do.
  rawset(vim, 'notify', function(line, level)
    if level >= vim.log.levels.WARN then
      complain((line:gsub('^eca: ', '')))
    end
  end)
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
    for _, item in ipairs(mirror.pending()) do
      if not decided[item.id .. item.digest] then -- each once
        decided[item.id .. item.digest] = true
        answer_pending(item)
      end
    end
  end)
  on('EcaStatusChanged', function(data)
    if data.status.state == 'login' then
      complain('cannot log in without a user')
      eca.stop(data.chat)
    end
  end)
  on('EcaTurnFinished', function(data)
    finish_once(fault_of(chat, data))
  end)
  on('EcaServerExited', function(data)
    if data.server_name == require('eca.state.mirror').server_name(chat) then
      finish_once(GONE)
    end
  end)
  -- Last, because a host that cannot start fails at once.
  chat = eca.new()
  if not host.has_failed() then
    eca.send(prompt, { chat = chat })
  end
end

return M
