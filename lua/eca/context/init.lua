--- Contexts: what is sent with a prompt besides its text.
---
--- Rules kept here:
--- - A context is a token in the prompt (`@src/io.py:10-20`) or an item on the chat's context line,
---   which is sent with each prompt. Deleting the token or removing the item removes the context.
---   `@cursor` is where the user was in code.
--- - An item is added to the line at once if it has a label. The host then checks it, and one that
---   cannot be sent is removed again. The host checks all contexts again with each prompt.
--- - A file named without lines means all items of that file.
--- - Everything is read when the prompt is sent, never before: text of buffers, lists and
---   selections here, files and git's diff by the host. Nothing here is unbounded or waits.
--- - What cannot be sent, and what is cut, is said in one line; the prompt is sent.
--- - Lines are 1-based, columns 1-based in UTF-16 code units, paths absolute.
--- - The first chat has to wait for this file to load: what it does not need is loaded late.
local chats = require('eca.chat.buffers')
local config = require('eca.config')
require('eca.context.highlight') -- colours the tokens of drafts
local host = require('eca.host')
local paths = require('eca.files.paths')
local places = require('eca.context.places')
local sanitize = require('eca.ui.sanitize')
local tokens = require('eca.context.tokens')

local M = {}

local lines = chats.memory() ---@type table<string, eca.Context[]> the context lines, by chat

---@param chat string
---@return eca.Context[] in the order in which they were added
local function items(chat)
  return lines[chat] or {}
end

--- The labels of the contexts on a chat's line.
---@param chat string
---@return string[]
function M.labels(chat)
  return vim.tbl_map(tokens.write, items(chat))
end

--- Are two contexts equal, apart from how they were written?
---@param one eca.Context
---@param other eca.Context
---@return boolean
local function same(one, other)
  local bare = vim.tbl_extend('force', {}, other)
  bare.token, bare.written = one.token, one.written
  return vim.deep_equal(one, bare)
end

--- Copy a context of other code: with an absolute path, and without functions, as these cannot be
--- sent.
---@param item any
---@return eca.Context
local function own(item)
  local copy = {} ---@type table<string, any>
  for key, value in pairs(type(item) == 'table' and item or { type = item }) do
    copy[key] = type(value) ~= 'function' and value or nil
  end
  if type(copy.path) == 'string' and copy.path:find('^%Z+$') then
    copy.path = paths.normalize(copy.path)
  elseif copy.buf == 0 then
    copy.buf = vim.api.nvim_get_current_buf()
  end
  return copy
end

---@param chat string
---@param item eca.Context
local function take_off(chat, item)
  lines[chat] = vim.tbl_filter(function(known)
    return known ~= item
  end, items(chat))
end

---@param chat string
---@param item eca.Context
---@return boolean
local function is_on(chat, item)
  return vim.iter(items(chat)):any(function(known)
    return known ~= item and same(known, item)
  end)
end

--- Add a context to a chat's line; one that is there already is not added again.
---@param chat string
---@param item any
---@param checked fun(fault?: string) called after the check; with a fault, it is removed again
function M.add(chat, item, checked)
  local copy = own(item)
  if pcall(tokens.write, copy) then
    copy.token = nil
    if is_on(chat, copy) then
      return
    end
    lines[chat] = vim.list_extend(lines[chat] or {}, { copy })
  end
  if tokens.NAMED[copy.type] then
    return -- it is read with each prompt, and may be empty now
  end
  local described = require('eca.context.texts').described(copy) -- late: rarely needed
  host.ask('check_context', { item = described }, function(answer)
    if not answer then -- the host is gone: it is looked at when it is sent
      return
    elseif answer.fault then
      take_off(chat, copy)
    else
      copy.first, copy.last = answer.first or copy.first, answer.last or copy.last
      if is_on(chat, copy) then
        take_off(chat, copy)
      end
    end
    checked(answer.fault)
  end)
end

---@param item eca.Context
---@param wanted eca.Context
---@return boolean
local function is_meant(item, wanted)
  if wanted.first or wanted.last or not (wanted.path or wanted.buf) then
    return same(item, wanted)
  end
  local path = wanted.path and paths.normalize(wanted.path)
  return item.path == path and item.buf == wanted.buf
end

--- Remove contexts from a chat's line.
---@param chat string
---@param what eca.Context|string a context, or how one is written, or a path
---@return boolean removed
function M.remove(chat, what)
  local label = type(what) == 'string' and '@' .. what:gsub('^@', '')
  local is_label = label and vim.list_contains(M.labels(chat), label)
  local wanted = what ---@type any
  if type(what) == 'string' then
    wanted = tokens.named(what) or { path = what }
  end
  local before = items(chat)
  lines[chat] = vim.tbl_filter(function(item)
    if is_label then
      return tokens.write(item) ~= label
    end
    return type(wanted) ~= 'table' or not is_meant(item, wanted)
  end, before)
  return #lines[chat] < #before
end

---@class eca.ContextSource
---@field item eca.Context
---@field entry? eca.Context its entry on the context line

--- Add a context to a list unless it is there; `@cursor` as the place that it means now.
---@param found eca.ContextSource[]
---@param item eca.Context
---@param entry? eca.Context
local function include(found, item, entry)
  local meant = item
  if item.type == 'cursor' then
    meant = places.cursor()
  end
  for _, known in ipairs(meant and found or {}) do
    if same(known.item, meant) then
      known.item = vim.tbl_extend('keep', known.item, { token = meant.token })
      return
    end
  end
  found[#found + 1] = meant and { item = meant, entry = entry }
end

--- All contexts that a prompt would be sent with now, and where each comes from: the context line,
--- the cursor, or a token in the text.
---@param chat string
---@param text? string the prompt
---@return eca.ContextSource[]
function M.sources(chat, text)
  local found = {} ---@type eca.ContextSource[]
  for _, item in ipairs(items(chat)) do
    include(found, item, item)
  end
  if config.get().contexts.cursor then
    include(found, { type = 'cursor' })
  end
  for _, token in ipairs(text and text:find('[@#]') and tokens.find(text) or {}) do
    include(found, token.context)
  end
  return found
end

---@type table<string, string> by chat: the prompt that waits for the key again
local asked = chats.memory()

--- Do the contexts of a prompt take over half of the model's window?
---@param chat string
---@param text string the prompt
---@return string? size as `~12k of 20k tokens`
---@return boolean is_asked it waits for the key that sends, again
function M.excess(chat, text)
  local found = vim.tbl_map(function(source)
    return source.item
  end, M.sources(chat, text))
  return require('eca.context.sizes').excess(found, chat), asked[chat] == text
end

--- Must a prompt wait for the key again, since its contexts take over half of the model's window?
---@param chat string
---@param text string the prompt
---@return string? size nil: it can be sent
function M.held(chat, text)
  local size, is_asked = M.excess(chat, text)
  asked[chat] = not is_asked and size and text or nil
  return not is_asked and size or nil
end

--- What reads the text that only Neovim knows, by type: a file of this room, and its function.
---@type table<eca.ContextType, [string, string]>
local READERS = {
  buffer = { 'texts', 'read' },
  selection = { 'texts', 'selection' },
  terminal = { 'texts', 'terminal' },
  diagnostics = { 'reports', 'read_diagnostics' },
  quickfix = { 'reports', 'read_quickfix' },
}

--- A context as it is sent: with its text, if only Neovim knows it.
---@param item eca.Context
---@param notices string[] a message is added if it cannot be sent, or is cut
---@return eca.Context?
local function read(item, notices)
  local reader = READERS[item.type]
  if item.type == 'diff' then -- the host reads it when the prompt goes to the agent
    return vim.tbl_extend('keep', item, { folder = vim.fn.getcwd() })
  elseif not reader then
    return item
  end
  local written, token = pcall(tokens.write, item) -- other code may name no buffer at all
  local name = item.token or (written and token) or item.type
  local found, fault = require('eca.context.' .. reader[1])[reader[2]](item)
  if not found then
    table.insert(notices, ('context not sent: %s: %s'):format(name, fault))
    return nil
  end
  local content = found.content
  if found.cut then
    table.insert(notices, ('context cut: %s: %s'):format(name, found.cut))
    content = ('%s\n[cut: this is %s]'):format(content, found.cut)
  end
  local sent = item.type == 'buffer' and require('eca.context.texts').described(item)
    or { type = 'text' }
  sent.label = ('%s (%s)'):format(found.label:gsub('%c+', ' '), name)
  sent.content, sent.token = content, item.token
  return sent
end

--- The contexts that a prompt is sent with. The host leaves out those that it cannot send.
---@param chat string
---@param text string
---@param others? any[] contexts of other code for this prompt
---@return eca.Context[]
function M.collect(chat, text, others)
  local notices = {} ---@type string[]
  local found = {} ---@type eca.Context[]
  for _, source in ipairs(M.sources(chat, text)) do
    found[#found + 1] = read(source.item, notices)
  end
  for _, item in ipairs(others or {}) do
    local copy = own(item)
    found[#found + 1] = copy.type == 'cursor' and places.cursor() or read(copy, notices)
  end
  local missing = text:find('@', 1, true) and tokens.find_missing(text) or {}
  if #missing > 0 then
    local names = vim.iter(missing):map(function(word)
      return word.text
    end)
    local line = 'context not sent: not found: %s; correct the name'
    table.insert(notices, line:format(names:join(', ')))
  end
  vim.tbl_map(require('eca.ui.notify').warn, notices)
  return found
end

--- Is the file, folder or buffer of a context gone?
---@param item eca.Context
---@return boolean
function M.is_missing(item)
  if item.type == 'buffer' then
    return not vim.api.nvim_buf_is_valid(item.buf)
  elseif item.type == 'chat' then
    return chats.get(item.chat) == nil
  end
  local is_file = item.type == 'file' or item.type == 'directory'
  return is_file and vim.uv.fs_stat(item.path) == nil
end

--- The text for a context on the context line, as one safe line: its token, for a buffer with its
--- name, and its size where nothing else tells it.
---@param item eca.Context
---@param chat? string the chat that it is sent to
---@return string
function M.label(item, chat)
  local label = tokens.write(item)
  if item.type == 'buffer' and vim.api.nvim_buf_is_valid(item.buf) then
    local name = vim.fs.basename(require('eca.context.texts').name(item.buf))
    label = ('%s %s'):format(label, (name:gsub('^%d+:', ''))) -- of a terminal without its process
  end
  local size = item.type ~= 'file' and require('eca.context.sizes').words({ item }, chat)
  return sanitize.line(label .. (size and ' ' .. size or ''))
end

return M
