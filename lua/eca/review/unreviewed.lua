--- What is not reviewed of each chat, as the host has last said: the winbar counts it, and a review
--- shows it in the files.
---
--- Rules kept here:
--- - It is asked for when something may have changed, and only of chats that somebody looks at: the
---   one that is reviewed, and those that are trusted.
--- - What the user has kept is left out at once.
local buffers = require('eca.chat.buffers')
local host = require('eca.host')
local mirror = require('eca.state.mirror')
local paths = require('eca.files.paths')
local winbar = require('eca.window.winbar')

local M = {}

--- Milliseconds in which several changes are one.
local PAUSE = 100

--- By normalized path. A file stays when all of it is reviewed: an undo may bring a change back.
---@alias eca.ChangesByPath table<string, eca.Change[]>

local known = buffers.memory() ---@type table<string, eca.ChangesByPath> by chat
local waiting = {} ---@type table<string, table<string, true>|'all'> what is asked for soon, by chat
local timer = assert(vim.uv.new_timer())
local listeners = {} ---@type fun(chat: string, path?: string)[]

--- Call a function when what is known of a chat has changed, in one file or in all.
---@param listener fun(chat: string, path?: string)
function M.on_changed(listener)
  listeners[#listeners + 1] = listener
end

--- What is not reviewed of a chat.
---@param chat string
---@return eca.ChangesByPath
function M.of(chat)
  return known[chat] or {}
end

---@param chat string
---@param path? string
local function changed(chat, path)
  local count = 0
  for _, changes in pairs(M.of(chat)) do
    count = count + #changes
  end
  mirror.set(chat, 'unreviewed', count)
  winbar.refresh(chat)
  for _, listener in ipairs(listeners) do
    listener(chat, path)
  end
end

--- Ask what is not reviewed.
---@param chat string
---@param path? string normalized; only what this file has
---@param done? fun() the user begins a review with it
function M.ask(chat, path, done)
  local asked = { chat = chat, path = path, begins = done ~= nil }
  host.ask('unreviewed', asked, function(listed)
    if not listed or not buffers.get(chat) then
      return
    end
    local before, found = M.of(chat), {} ---@type eca.ChangesByPath, eca.ChangesByPath
    for name, changes in pairs(before) do
      local is_asked = not path or name == path
      found[name] = is_asked and {} or changes
    end
    for _, change in
      ipairs(listed --[[@as eca.Change[] ]])
    do
      local name = paths.normalize(change.path)
      found[name] = found[name] or {}
      table.insert(found[name], change)
    end
    known[chat] = found
    changed(chat, path)
    if done then
      done()
    end
  end)
end

local function ask_all()
  local wanted = waiting
  waiting = {}
  for chat, what in pairs(wanted) do
    if what == 'all' then
      M.ask(chat)
    else
      for path in pairs(what) do
        M.ask(chat, path)
      end
    end
  end
end

--- Ask as soon as nothing more changes.
---@param chat string
---@param path? string normalized
function M.ask_soon(chat, path)
  local wanted = waiting[chat] or {}
  if not path then
    wanted = 'all'
  elseif wanted ~= 'all' then
    wanted[path] = true
  end
  waiting[chat] = wanted
  timer:start(PAUSE, 0, vim.schedule_wrap(ask_all))
end

--- Ask again, if anybody looks at what is not reviewed of a chat.
---@param chat string
function M.look_again(chat)
  if known[chat] then
    M.ask_soon(chat)
  end
end

--- The keys of the changes that are kept with one.
---@param change eca.Change
---@return string[]
function M.keys(change)
  return change.keys or { change.key }
end

--- Keep changes: they are reviewed.
---@param chat string
---@param changes eca.Change[]
function M.keep(chat, changes)
  local keys, kept = {}, {} ---@type string[], table<string, true>
  for _, change in ipairs(changes) do
    vim.list_extend(keys, M.keys(change))
  end
  for _, key in ipairs(keys) do
    kept[key] = true
  end
  host.send('keep', { chat = chat, keys = keys })
  for path, listed in pairs(M.of(chat)) do
    local left = vim.tbl_filter(function(change)
      return not vim.iter(M.keys(change)):all(function(key)
        return kept[key]
      end)
    end, listed)
    M.of(chat)[path] = left
  end
  if known[chat] then
    changed(chat)
    M.ask_soon(chat) -- a change may have been kept in part
  end
end

return M
