--- What the host has answered: the cache that completion is answered from.
---
--- Rules kept here:
--- - What is known is returned at once, and the host is asked for more. Its answers come later, and
---   whoever waits is called.
--- - Items are ranked here, by `matchfuzzy()`. The host only finds them: of too many in a large
---   workspace it sends those that are nearest to the query.
--- - Until a query has an answer, that of its longest beginning is narrowed down.
--- - An answer is kept under its own query, so a stale one never shows up elsewhere.
--- - How a path is written in a token is known here alone: the host gets and sends it unescaped.
--- - Without a running host, nothing is asked and nothing is reported: completion is a convenience.
local editor_items = require('eca.completion.editor_items')
local host = require('eca.host')
local sizes = require('eca.context.sizes')
local symbols = require('eca.completion.symbols')
local tokens = require('eca.context.tokens')

local M = {}

--- Most queries of a chat and trigger that are kept.
local MOST_KEPT = 50

---@class eca.CompletionArgument
---@field name string
---@field description string
---@field required boolean

---@class eca.CompletionItem
---@field text string stands after the trigger when it is accepted, blanks escaped
---@field label string safe for one line
---@field kind string
---@field detail string one line
---@field arguments? eca.CompletionArgument[]
---@field name? string of a symbol

---@class eca.CompletionAnswer
---@field items eca.CompletionItem[]
---@field final boolean no later answer to the query follows

---@class eca.CompletionStore
---@field answers table<string, eca.CompletionAnswer> by query
---@field asked? string the query that the host was asked last, in this token

---@type table<string, table<eca.CompletionTrigger, eca.CompletionStore>> by chat
local stores = require('eca.chat.buffers').memory()
local waiting = {} ---@type table<fun(), eca.CompletionPlace> what is called with an answer

---@param chat string
---@param trigger eca.CompletionTrigger
---@return eca.CompletionStore
local function store_of(chat, trigger)
  local by_trigger = stores[chat] or {}
  stores[chat] = by_trigger
  by_trigger[trigger] = by_trigger[trigger] or { answers = {} }
  return by_trigger[trigger]
end

--- The items that match a query, the best first; of a folder only what is in it.
---@param items eca.CompletionItem[]
---@param query string
---@return eca.CompletionItem[]
local function narrow(items, query)
  if query == '' then
    return items
  end
  -- The folder that it lists: all of it if it ends in `/`, or up to the last `/` if it begins with
  -- a `/`, `~/`, `./` or `../`.
  local is_rooted = query:find('^%.?%.?/') or query:find('^~/')
  local folder = query:match(is_rooted and '^.*/' or '^.*/$') or ''
  local by_text, texts = {}, {} ---@type table<string, eca.CompletionItem>, string[]
  for _, item in ipairs(items) do
    if vim.startswith(item.text, folder) then
      by_text[item.text], texts[#texts + 1] = item, item.text
    end
  end
  return vim.tbl_map(function(text)
    return by_text[text]
  end, vim.fn.matchfuzzy(texts, query))
end

--- What the host has answered to a query, or to the longest beginning of it.
---@param store eca.CompletionStore
---@param query string
---@return eca.CompletionItem[]
local function from_host(store, query)
  for length = #query, 0, -1 do
    local answer = store.answers[query:sub(1, length)]
    if answer then
      return length == #query and answer.items or narrow(answer.items, query)
    end
  end
  return {}
end

--- Add items to a list whose texts are not in it yet. Names with control characters are left out:
--- they would act like keys when they are inserted.
---@param list eca.CompletionItem[]
---@param more eca.CompletionItem[]
---@return eca.CompletionItem[] list
function M.append(list, more)
  local known = {} ---@type table<string, true>
  for _, item in ipairs(list) do
    known[item.text] = true
  end
  for _, item in ipairs(more) do
    if not known[item.text] and not item.text:find('%c') then
      known[item.text] = true
      list[#list + 1] = item
    end
  end
  return list
end

--- Items in their order, as they are known now.
---@param items eca.CompletionItem[]
---@param known eca.CompletionItem[]
---@return eca.CompletionItem[]
function M.renewed(items, known)
  local by_text = {} ---@type table<string, eca.CompletionItem>
  for _, item in ipairs(known) do
    by_text[item.text] = item
  end
  return vim.tbl_map(function(item)
    return by_text[item.text] or item
  end, items)
end

--- How many folders of a list have their size: the host reads what is in them.
local MOST_SIZED = 20

--- Folders, with how much they take.
---@param place eca.CompletionPlace
---@param items eca.CompletionItem[]
---@return eca.CompletionItem[]
local function with_sizes(place, items)
  local count = place.trigger == '@' and 0 or MOST_SIZED -- after `#` nothing is sent
  return vim.tbl_map(function(item)
    if item.kind ~= 'folder' or item.detail ~= '' or count == MOST_SIZED then
      return item
    end
    count = count + 1
    local folder = tokens.named(item.text)
    local size = folder and sizes.words({ folder }, place.chat)
    return size and vim.tbl_extend('force', item, { detail = size .. ' · folder' }) or item
  end, items)
end

--- The symbols whose names match, as far as the servers have answered.
---@param place eca.CompletionPlace
---@param name string
---@return eca.CompletionItem[]
local function known_symbols(place, name)
  local store = store_of(place.chat, place.trigger)
  for length = #name, 1, -1 do
    local answer = store.answers[symbols.PREFIX .. name:sub(1, length)]
    if answer then
      return vim.fn.matchfuzzy(answer.items, name, { key = 'name' })
    end
  end
  return {}
end

--- All items known for a place, in the order to show: those of the editor first, or the best match
--- once there is something to match. What the host found by its description comes last.
---@param place eca.CompletionPlace
---@return eca.CompletionItem[]
function M.known(place)
  local query, name = place.query, symbols.name_in(place.trigger, place.query)
  if name then
    return M.append({}, known_symbols(place, name))
  end
  local ours = narrow(editor_items.list(place.trigger), query)
  local all = M.append(M.append({}, ours), from_host(store_of(place.chat, place.trigger), query))
  if query == '' or vim.endswith(query, '/') then
    return with_sizes(place, all) -- a folder is listed as the host has sorted it
  end
  return with_sizes(place, M.append(narrow(all, query), all))
end

--- Is there all that the host can say to a place's query? A query that was asked before is not
--- waited for again.
---@param place eca.CompletionPlace
---@return boolean
local function is_answered(place)
  local answer = store_of(place.chat, place.trigger).answers[place.query]
  return answer ~= nil and answer.final
end

local on_symbols ---@type fun(place: eca.CompletionPlace, items: eca.CompletionItem[])

--- Set what is called with the symbols that were found.
---@param listener fun(place: eca.CompletionPlace, items: eca.CompletionItem[])
function M.listen(listener)
  on_symbols = listener
end

--- Ask what completes a place, once for each query of a token: the host, or language servers for
--- their symbols.
---@param place eca.CompletionPlace
function M.ask(place)
  local store, name =
    store_of(place.chat, place.trigger), symbols.name_in(place.trigger, place.query)
  if name and name ~= '' and store.asked ~= place.query then
    store.asked = place.query
    symbols.find(name, function(items)
      on_symbols(place, items)
    end)
  elseif not name and store.asked ~= place.query then
    local payload = { chat = place.chat, trigger = place.trigger, folder = vim.fn.getcwd() }
    payload.query = place.query:gsub('\\ ', ' ')
    store.asked = host.send_if_running('complete', payload) and place.query or nil
  end
end

--- Ask again about every query: the user has begun another token, or the host may know more.
function M.forget_asked()
  editor_items.forget()
  for _, by_trigger in pairs(stores) do
    for _, store in pairs(by_trigger) do
      store.asked = nil
    end
  end
end

--- Call a function once the host has answered a place's query for the last time, or after a time at
--- most.
---@param place eca.CompletionPlace
---@param most integer ms
---@param callback fun()
function M.wait(place, most, callback)
  if is_answered(place) or not store_of(place.chat, place.trigger).asked then
    return callback()
  end
  local function once()
    if waiting[once] then
      waiting[once] = nil
      callback()
    end
  end
  waiting[once] = place
  vim.defer_fn(once, most)
end

--- Called with an answer of the host (op `completions`).
---@param chat string
---@param trigger eca.CompletionTrigger
---@param query string
---@param items eca.CompletionItem[]
---@param final boolean
function M.received(chat, trigger, query, items, final)
  local store = store_of(chat, trigger)
  if vim.tbl_count(store.answers) >= MOST_KEPT then
    store.answers = {}
  end
  for _, item in ipairs(items) do
    if item.kind == 'file' or item.kind == 'folder' then
      local typed = item.text
      item.text = tokens.escaped(typed)
      local is_dotted = vim.startswith(item.text, './') and not vim.startswith(typed, './')
      item.label = (is_dotted and './' or '') .. item.label
    end
  end
  store.answers[query:gsub(' ', '\\ ')] = { items = items, final = final }
  for once, place in pairs(waiting) do
    if is_answered(place) then
      once()
    end
  end
end

--- The command of this name, if the host has offered it.
---@param chat string
---@param name string
---@return eca.CompletionItem?
function M.command(chat, name)
  for _, answer in pairs(store_of(chat, '/').answers) do
    for _, item in ipairs(answer.items) do
      if item.text == name then
        return item
      end
    end
  end
end

return M
