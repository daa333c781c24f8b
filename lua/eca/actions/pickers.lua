--- Actions that choose from a list: model, agent, variant, trust, prompts.
---
--- Rules kept here: the current choice is marked. A choice counts only once the host confirms it.
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

--- Stands for no variant.
local NONE = 'none'

---@alias eca.Choosable 'model'|'agent'|'variant'

--- The variants of a chat's model; those of all models if it is not known yet.
---@param chat? string
---@return string[]
local function variants_of(chat)
  local model, by_model = mirror.status(chat).model, mirror.choices(chat).variants
  if model then
    return by_model[model] or {}
  end
  local all = vim.iter(vim.tbl_values(by_model)):flatten():totable()
  table.sort(all)
  return vim.fn.uniq(all) --[[@as string[] ]]
end

--- What a chat can choose from.
---@param what eca.Choosable
---@param chat? string default: the current one
---@return string[]
function M.offers(what, chat)
  chat = chat or windows.current_chat()
  if what ~= 'variant' then
    return mirror.choices(chat)[what .. 's'] or {}
  end
  local variants = variants_of(chat)
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
local function send_choice(what, choice, chat)
  send(what, what == 'variant' and choice == NONE and '' or choice, chat)
end

--- The offer that a word means: the only one whose name contains it, else the word itself. The host
--- checks that it is a name.
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
      send_choice(what, choice, chat)
    end
  end)
end

--- Choose something for the current chat.
---@param what eca.Choosable
---@param word? string a name, or a part of one; default: show a list
function M.choose(what, word)
  local chat = eca.current()
  local offers = M.offers(what, chat)
  if word then
    send_choice(what, meant(word, offers), chat)
  elseif #offers == 0 then
    notify.info(('no %s to choose from yet'):format(what))
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

--- Switch to the next agent of the list.
function M.next_agent()
  local chat = eca.current()
  local agents = M.offers('agent')
  for index, agent in ipairs(agents) do
    if agent == mirror.status(chat).agent then
      return send_choice('agent', agents[index % #agents + 1], chat)
    end
  end
  M.choose('agent', agents[1])
end

--- Choose the variant of the model.
function M.variant()
  M.choose('variant')
end

---@param chat string
local function notify_trust(chat)
  if mirror.status(chat).trust then
    local still = #mirror.pending(chat) > 0 and ' (pending requests still ask)' or ''
    notify.warn('trust on: tools of this chat run WITHOUT ASKING' .. still)
  else
    notify.info('trust off: this chat asks before tools run')
  end
end

--- Show a message whenever a chat's trust changes.
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
        notify_trust(chat)
      end
    end,
  })
end

--- Turn the chat's trust on or off. A message follows when the host confirms it.
---@param trusted? boolean default: toggle
function M.set_trust(trusted)
  local chat = eca.current()
  local known = mirror.status(chat).trust or false
  if trusted == nil then
    trusted = not known
  end
  watch_trust(chat)
  send('trust', trusted, chat)
  if trusted == known then
    notify_trust(chat)
  end
end

--- Turn the chat's trust on or off.
function M.trust()
  M.set_trust()
end

---@param line string
---@return boolean
local function has_text(line)
  return line ~= ''
end

--- Choose one of this project's prompts and put it into the input.
function M.prompts()
  local prompts = history.newest_first()
  if #prompts == 0 then
    notify.info('no prompts sent in this project yet')
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

--- Open the palette.
function M.palette()
  vim.cmd.Eca()
end

return M
