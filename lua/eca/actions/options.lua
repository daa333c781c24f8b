--- Actions that set an option of a chat: model, agent, variant, trust, and what else its agent
--- offers.
---
--- Rules kept here:
--- - Names are shown and typed, values are sent. The current value is marked.
--- - A value counts only once the host confirms it.
--- - A mode in which tools run without asking is chosen by its name, never by a key that goes on to
---   the next one.
local abilities = require('eca.state.abilities')
local choose = require('eca.ui.choose')
local display_width = require('eca.ui.display_width')
local eca = require('eca')
local host = require('eca.host')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local sanitize = require('eca.ui.sanitize')
local scan = require('eca.text.scan')
local unreviewed = require('eca.review.unreviewed')
local windows = require('eca.window')

local M = {}

---@alias eca.Choosable 'model'|'agent'|'variant'

--- How the host names these before there is a list of options.
---@type table<eca.Choosable, string>
local CATEGORIES = { model = 'model', agent = 'mode', variant = 'thought_level' }

--- What may be typed for no variant.
local NONE = 'none'

--- The values of a toggle.
---@type eca.OptionOffer[]
local TOGGLED = { { value = true, name = 'on' }, { value = false, name = 'off' } }

---@param what eca.Choosable
---@param chat? string
---@return eca.Option?
local function option_of(what, chat)
  return vim.iter(mirror.chat(chat).options):find(function(option)
    return option.command == what
  end)
end

--- The options of the current chat that have no command of their own.
---@param chat? string default: the current one
---@return eca.Option[]
function M.others(chat)
  return vim.tbl_filter(function(option)
    return option.command == nil
  end, mirror.chat(chat or windows.current_chat()).options)
end

--- The values that an option can have; none if there is nothing to choose from.
---@param option? eca.Option
---@return eca.OptionOffer[]
local function offers_of(option)
  if not option then
    return {}
  end
  local offers = option.kind == 'toggle' and TOGGLED or option.offers
  return #offers == 1 and offers[1].value == '' and {} or offers
end

---@param items eca.Option[]|eca.OptionOffer[]
---@return string[]
local function names_of(items)
  return vim.tbl_map(function(item)
    return item.name
  end, items)
end

--- The names that a chat can choose from.
---@param what eca.Choosable
---@param chat? string default: the current one
---@return string[]
function M.offers(what, chat)
  return names_of(offers_of(option_of(what, chat or windows.current_chat())))
end

---@param chat string
---@param option string id or category
---@param value string|boolean
local function send(chat, option, value)
  host.send('choose', { chat = chat, option = option, value = value })
end

--- The option or value that a word means: the one with this name, id or value, else the only one
--- whose name contains it.
---@generic T
---@param word string
---@param items T[]
---@param key 'id'|'value'
---@return T?
local function meant(word, items, key)
  for _, item in ipairs(items) do
    if item.name == word or item[key] == word then
      return item
    end
  end
  local found = vim.tbl_filter(function(item)
    return item.name:lower():find(word:lower(), 1, true) ~= nil
  end, items)
  return #found == 1 and found[1] or nil
end

--- The value that a word means; else the word itself, and the host says what is wrong with it. A
--- slip must not switch anything on.
---@param word string
---@param option? eca.Option
---@return string|boolean
local function meant_value(word, option)
  local offer = meant(word, offers_of(option), 'value')
  local is_exact = offer and offer.name == word
  if not offer or (option and option.kind == 'toggle' and not is_exact) then
    return word
  end
  return offer.value
end

--- The model that a word means; nil for none. The host says what is wrong with an unknown one.
---@param word? string
---@param chat string
---@return string|boolean?
function M.meant_model(word, chat)
  return word and meant_value(word, option_of('model', chat))
end

--- A row of a list: a name, and what it means if that is known.
---@param name string with what stands before it
---@param item eca.Option|eca.OptionOffer
---@return string
local function row(name, item)
  local title, facts = sanitize.line(name), {} ---@type string, string[]
  facts[1] = item.unasked and 'tools run without asking'
    or item.unsure and 'not known whether it asks'
    or nil
  facts[#facts + 1] = item.description and sanitize.line(item.description)
  if #facts == 0 then
    return title
  end
  return display_width.list_row(title, vim.api.nvim_strwidth(title), facts)
end

--- Let the user choose the value of an option.
---@param option eca.Option
---@param title string
---@param chat string
local function ask(option, title, chat)
  choose.one(title, offers_of(option), function(offer)
    local mark = offer.value == option.value and '● ' or '  '
    return row(mark .. (offer.group and offer.group .. ': ' or '') .. offer.name, offer)
  end, function(offer)
    send(chat, option.id, offer.value)
  end)
end

--- Choose something for the current chat.
---@param what eca.Choosable
---@param word? string a name, or a part of one; default: show a list
---@param bang? boolean switch to the next agent
function M.choose(what, word, bang)
  if bang then
    return M.next_agent()
  end
  local chat = eca.current()
  local option = option_of(what, chat)
  local offers = offers_of(option)
  if word then
    local value = meant_value(word, option)
    if value == NONE and what == 'variant' then
      value = ''
    end
    send(chat, option and option.id or CATEGORIES[what], value)
  elseif not option or #offers == 0 then
    -- A server without a login and a list takes names.
    local takes_names = option and not abilities.has(chat, 'login')
    local remedy = takes_names and '; name one: :Eca model NAME' or '; log in with :Eca login'
    notify.info(('no %s to choose from yet%s'):format(what, what == 'model' and remedy or ''))
  else
    ask(option, 'Choose the ' .. what, chat)
  end
end

--- Switch to the next agent of the list.
function M.next_agent()
  local chat = eca.current()
  local option = option_of('agent', chat)
  local offers = vim.tbl_filter(function(offer)
    return not (offer.unasked or offer.unsure)
  end, offers_of(option))
  if not option or #offers == 0 then
    return M.choose('agent')
  end
  local place = 0
  for index, offer in ipairs(offers) do
    place = offer.value == option.value and index or place
  end
  send(chat, option.id, offers[place % #offers + 1].value)
end

-- Trust -----------------------------------------------------------------------------------------

---@param chat string
local function notify_trust(chat)
  if mirror.status(chat).trust then
    local waits = #mirror.pending(chat) > 0
    local what = waits and 'tools run WITHOUT ASKING (what waits still asks)' -- fits 80 columns
      or 'tools of this chat run WITHOUT ASKING'
    notify.warn('trust on: ' .. what)
  else
    notify.info('trust off: this chat asks before tools run')
  end
end

---@type table<string, boolean> by chats in which the user has changed it
local trusted = require('eca.chat.buffers').memory()

---@param event table of a `User` autocommand
local function trust_changed(event)
  local chat, status = event.data.chat, event.data.status ---@type string, eca.Status?
  if not status then -- the chat is closed
    trusted[chat] = nil
  elseif trusted[chat] ~= nil and trusted[chat] ~= status.trust then
    trusted[chat] = status.trust
    notify_trust(chat)
    if status.trust then
      unreviewed.ask_soon(chat) -- the winbar counts it from now on
    end
  end
end

--- Show a message whenever a chat's trust changes.
---@param chat string
local function watch_trust(chat)
  trusted[chat] = mirror.status(chat).trust or false
  vim.api.nvim_create_autocmd('User', {
    group = vim.api.nvim_create_augroup('eca.trust', {}),
    pattern = { 'EcaStatusChanged', 'EcaChatClosed' },
    callback = trust_changed,
  })
end

--- Turn the chat's trust on or off. A message follows when the host confirms it.
---@param word? 'on'|'off' default: toggle
function M.trust(word)
  local chat = eca.current()
  watch_trust(chat)
  local before = trusted[chat]
  local wanted = word == 'on' or word == nil and not before
  host.send('trust', { chat = chat, trusted = wanted })
  if wanted == before then
    notify_trust(chat)
  end
end

-- Options without a command of their own --------------------------------------------------------

--- Set an option: a toggle to its other value, anything else from a list.
---@param option eca.Option
---@param chat string
local function change(option, chat)
  if option.kind == 'toggle' then
    send(chat, option.id, not option.value)
  elseif #offers_of(option) == 0 then
    notify.info(('%s has nothing to choose from'):format(option.name))
  else
    ask(option, option.name, chat)
  end
end

--- Choose an option, then its value.
---@param chat string
---@param others eca.Option[]
local function choose_option(chat, others)
  if #others == 0 then
    return notify.info('this chat has no other options')
  end
  choose.one('Options', others, function(option)
    return row(('%s: %s'):format(option.name, option.shown), option)
  end, function(option)
    change(option, chat)
  end)
end

--- The option that a text begins with, by its name or id, and the rest of the text.
---@param text string
---@param others eca.Option[]
---@return eca.Option?, string
local function split(text, others)
  local found, rest = nil, nil ---@type eca.Option?, string?
  for _, option in ipairs(others) do
    for _, label in ipairs({ option.name, option.id }) do
      local after = text:sub(#label + 1)
      local is_it = text:sub(1, #label):lower() == label:lower() and (after .. ' '):find('^%s')
      if is_it and (not rest or #after < #rest) then
        found, rest = option, after
      end
    end
  end
  if not found then
    local word = text:match('^%S*') --[[@as string]]
    found, rest = meant(word, others, 'id'), text:sub(#word + 1)
  end
  return found, scan.trim(rest or '')
end

--- Set an option that has no command of its own.
---@param text? string its name or id, then a value; without them, lists are shown
function M.options(text)
  local chat = eca.current()
  local others = M.others(chat)
  if not text then
    return choose_option(chat, others)
  end
  local option, word = split(text, others)
  if not option then
    local names = table.concat(names_of(others), ', ')
    local known = names == '' and 'this chat has none' or 'there are ' .. names
    notify.warn(("unknown option '%s': %s"):format(sanitize.line(text), sanitize.line(known)))
  elseif word == '' then
    change(option, chat)
  else
    send(chat, option.id, meant_value(word, option))
  end
end

--- Completion of `:Eca options`.
---@param _ string the word to complete
---@param _ boolean
---@param given string what was typed before it
---@return string[]
function M.complete(_, _, given)
  local others = M.others()
  local option = given ~= '' and split(given, others) or nil
  local items = given == '' and others or offers_of(option)
  local labels = {} ---@type string[]
  for _, item in ipairs(items) do
    labels[#labels + 1] = vim.iter({ item.name, item.id or item.value }):find(function(text)
      -- no text with blanks, or with something that a screen does not show
      return type(text) == 'string' and text:find('^%S+$') and sanitize.line(text) == text
    end)
  end
  return labels
end

return M
