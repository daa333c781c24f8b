--- Actions that choose from a list: model, agent, variant, trust, prompts.
---
--- Rules kept here: the current choice is marked; what is chosen is true once the host tells it.
local chats = require('eca.chat.buffers')
local choose = require('eca.ui.choose')
local eca = require('eca')
local field = require('eca.input.field')
local history = require('eca.input.history')
local host = require('eca.host')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local sanitize = require('eca.ui.sanitize')
local scan = require('eca.text.scan')
local windows = require('eca.window')

local M = {}

--- The choice of no variant.
local NONE = 'none'

---@alias eca.Choosable 'model'|'agent'|'variant'

--- The variants of a model; of all models when it is not known yet.
---@param model? string
---@return string[]
local function variants_of(model)
  local by_model = mirror.choices().variants
  if model then
    return by_model[model] or {}
  end
  local all = vim.iter(vim.tbl_values(by_model)):flatten():totable()
  table.sort(all)
  return vim.fn.uniq(all) --[[@as string[] ]]
end

--- What a chat may choose from.
---@param what eca.Choosable
---@param chat? string default: the current one
---@return string[]
function M.offers(what, chat)
  if what ~= 'variant' then
    return mirror.choices()[what .. 's'] or {}
  end
  local variants = variants_of(mirror.status(chat or windows.current_chat()).model)
  return #variants > 0 and vim.list_extend({ NONE }, variants) or {}
end

---@param what eca.Choosable|'trust'
---@param value string|boolean
---@param chat string
local function send(what, value, chat)
  host.send('choose', { chat = chat, what = what, value = value })
end

---@param what eca.Choosable
---@param choice string one of the offers
---@param chat string
local function take(what, choice, chat)
  send(what, what == 'variant' and choice == NONE and '' or choice, chat)
end

--- The offer that a word means: the only one that has it in its name. Of any other word the host
--- says whether it is a name.
---@param word string
---@param offers string[]
---@return string
local function meant(word, offers)
  local found = vim.tbl_filter(function(offer)
    return offer:lower():find(word:lower(), 1, true) ~= nil
  end, offers)
  return #found == 1 and found[1] or word
end

---@param what eca.Choosable
---@param chat string
---@param offers string[]
local function ask(what, chat, offers)
  local current = mirror.status(chat)[what] or (what == 'variant' and NONE)
  local options = {
    prompt = 'Choose the ' .. what,
    format_item = function(offer)
      return (offer == current and '● ' or '  ') .. sanitize.line(offer)
    end,
  }
  choose.one(offers, options, function(choice)
    if choice then
      take(what, choice, chat)
    end
  end)
end

--- Make a choice for the chat the user means; without a word, ask for one.
---@param what eca.Choosable
---@param word? string a name, or a part of one
function M.choose(what, word)
  local chat = eca.current()
  local offers = M.offers(what, chat)
  if word then
    take(what, meant(word, offers), chat)
  elseif #offers == 0 then
    notify.info(('there is no %s to choose yet'):format(what))
  else
    ask(what, chat, offers)
  end
end

--- Choose the model.
function M.model()
  M.choose('model')
end

--- Choose the agent.
function M.agent()
  M.choose('agent')
end

--- Go on with the next agent of the list.
function M.next_agent()
  local chat = eca.current()
  local agents = M.offers('agent')
  for index, agent in ipairs(agents) do
    if agent == mirror.status(chat).agent then
      return take('agent', agents[index % #agents + 1], chat)
    end
  end
  M.choose('agent', agents[1])
end

--- Choose the variant of the model.
function M.variant()
  M.choose('variant')
end

---@param chat string
local function tell_trust(chat)
  if mirror.status(chat).trust then
    local waits = #mirror.pending(chat) > 0
    notify.warn(
      waits and 'trusted: its tools run WITHOUT ASKING; what waits still asks'
        or 'this chat is trusted: its tools run WITHOUT ASKING'
    )
  else
    notify.info('this chat asks before its tools run')
  end
end

--- Tell whether a chat is trusted whenever that changes.
---@param chat string
local function watch_trust(chat)
  local known = mirror.status(chat).trust or false
  vim.api.nvim_create_autocmd('User', {
    group = vim.api.nvim_create_augroup('eca.trust.' .. chat, {}),
    pattern = 'EcaStatusChanged',
    callback = function(event)
      local trust = event.data.status.trust
      if event.data.chat == chat and trust ~= known then
        known = trust
        tell_trust(chat)
      end
    end,
  })
end

--- Let the chat work without asking, or no longer; what became of it is told when it is known.
---@param trusted? boolean default: the other way round
function M.set_trust(trusted)
  local chat = eca.current()
  local known = mirror.status(chat).trust or false
  if trusted == nil then
    trusted = not known
  end
  watch_trust(chat)
  send('trust', trusted, chat)
  if trusted == known then
    tell_trust(chat)
  end
end

--- Let the chat work without asking, or no longer.
function M.trust()
  M.set_trust()
end

---@param line string
---@return boolean
local function has_text(line)
  return line ~= ''
end

--- Choose one of the prompts of this project and put it into the input.
function M.prompts()
  local prompts = history.newest_first()
  if #prompts == 0 then
    notify.info('no prompt was sent in this project yet')
    return
  end
  local options = {
    prompt = 'Prompts',
    format_item = function(prompt)
      local lines = vim.tbl_map(scan.trim, vim.split(prompt, '\n', { plain = true }))
      return table.concat(vim.tbl_filter(has_text, lines), ' ⏎ ')
    end,
  }
  choose.one(prompts, options, function(prompt)
    if prompt then
      local id = eca.open()
      field.put_back(chats.ensure(id).input, prompt)
    end
  end)
end

--- Choose from what can be done now.
function M.palette()
  vim.cmd.Eca()
end

return M
