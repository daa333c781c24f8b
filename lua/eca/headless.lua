--- One prompt without a screen: sends it, waits for the turn's end, prints the chat, exits.
---
--- Rules kept here:
--- - Exit code 0 only when the turn finished by itself; else 1 and one line on standard error.
--- - Nobody is there to ask: what waits for approval is rejected, unless ECA_APPROVE is 1, and
---   questions are cancelled.
local M = {}

local PATIENCE = 2000 -- ms to wait for the chat's text at the end

---@param text string
local function complain(text)
  io.stderr:write('eca: ', (text:gsub('%c+', ' ')), '\n')
end

---@param code integer
local function exit(code)
  io.stdout:flush()
  vim.schedule(function()
    vim.cmd.cquit({ count = code, bang = true })
  end)
end

--- Print the chat, then exit; without the chat when the host cannot tell it any more.
---@param chat string
---@param fault? string
local function finish(chat, fault)
  local function leave()
    if fault then
      complain(fault)
    end
    exit(fault and 1 or 0)
  end
  vim.defer_fn(leave, PATIENCE)
  require('eca').transcript(chat, function(markdown)
    io.stdout:write(vim.trim(markdown), '\n')
    leave()
  end)
end

---@param item eca.Pending
local function decide(item)
  local allowed = vim.env.ECA_APPROVE == '1'
  local word = allowed and 'accepted' or 'rejected, as nobody can be asked'
  complain(('%s: %s'):format(item.title, item.kind == 'question' and 'not answered' or word))
  if item.kind == 'question' then
    require('eca.host').send('answer', { chat = item.chat, id = item.id })
  elseif allowed then
    require('eca').approve({ id = item.id })
  else
    require('eca').reject({ id = item.id })
  end
end

--- Decide on all that waits, each once.
---@param decided table<string, true>
local function decide_all(decided)
  for _, item in ipairs(require('eca.mirror').pending()) do
    if not decided[item.id] then
      decided[item.id] = true
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

--- Run a prompt and end Neovim.
---@param prompt? string
function M.run(prompt)
  if not prompt or not prompt:find('%S') then
    complain('there is no prompt')
    return exit(1)
  end
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
  on('EcaTurnFinished', function(data)
    local done = data.reason == nil or data.reason == 'done'
    finish_once(not done and 'the turn ended: ' .. tostring(data.reason) or nil)
  end)
  on('EcaServerExited', function()
    finish_once('the server is gone')
  end)
  -- Last, as what cannot start is told at once.
  chat = require('eca').new()
  require('eca').send(prompt, { chat = chat })
end

return M
