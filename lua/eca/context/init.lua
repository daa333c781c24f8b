--- Contexts: what is sent with a prompt besides its text.
---
--- Rules kept here:
--- - A context is a token in the prompt (`@src/io.py:10-20`) or an item on the chat's context line.
---   Deleting the token or removing the item removes the context. `@cursor` is where the user was
---   in code.
--- - Everything is read when the prompt is sent, never before: text of buffers, lists and
---   selections here, files and git's diff by the host. Nothing here is unbounded or waits.
--- - What cannot be sent, and what is cut, is said in one line; the prompt is sent.
--- - Lines are 1-based, columns 1-based in UTF-16 code units, paths absolute.
--- - The first chat has to wait for this file to load: what it does not need is loaded late.
local config = require('eca.config')
local context_line = require('eca.context.line')
require('eca.context.highlight') -- colours the tokens of drafts
local places = require('eca.context.places')
local tokens = require('eca.context.tokens')

local M = {}

M.track = places.track
M.cursor = places.cursor

---@class eca.ContextSource
---@field item eca.Context
---@field entry? eca.Context its entry on the context line

---@param found eca.ContextSource[]
---@param item? eca.Context
---@param entry? eca.Context
local function include(found, item, entry)
  for _, known in ipairs(item and found or {}) do
    if context_line.same(known.item, item) then
      known.item = vim.tbl_extend('keep', known.item, { token = item.token })
      return
    end
  end
  found[#found + 1] = item and { item = item, entry = entry }
end

---@param item eca.Context
---@return eca.Context?
local function resolve(item)
  return item.type == 'cursor' and M.cursor() or (item.type ~= 'cursor' and item or nil)
end

--- All contexts that a prompt would be sent with now, and where each comes from: the context line,
--- the cursor, or a token in the text.
---@param chat string
---@param text? string the prompt
---@return eca.ContextSource[]
function M.sources(chat, text)
  local found = {} ---@type eca.ContextSource[]
  for _, item in ipairs(context_line.items(chat)) do
    include(found, resolve(item), item)
  end
  if config.get().contexts.cursor then
    include(found, M.cursor())
  end
  for _, token in ipairs(tokens.find(text or '')) do
    include(found, resolve(token.context))
  end
  return found
end

--- All contexts that a prompt would be sent with now.
---@param chat string
---@param text? string the prompt
---@return eca.Context[]
function M.list(chat, text)
  return vim.tbl_map(function(source)
    return source.item
  end, M.sources(chat, text))
end

--- Reads what only Neovim knows, by type.
---@type table<eca.ContextType, fun(item: eca.Context): eca.ReadText?, string?>
local READERS = {
  buffer = function(item)
    return require('eca.context.buffer_text').read(item)
  end,
  selection = function()
    return require('eca.context.buffer_text').selection()
  end,
  diagnostics = function()
    return require('eca.context.reports').read_diagnostics()
  end,
  quickfix = function()
    return require('eca.context.reports').read_quickfix()
  end,
}

--- A context as it is sent: with its text, if only Neovim knows it.
---@param item eca.Context
---@param notices string[] a message is added if it cannot be sent, or is cut
---@return eca.Context?
local function read(item, notices)
  local reader = READERS[item.type]
  if item.type == 'diff' then
    return require('eca.context.reports').described_diff(item)
  elseif not reader then
    return item
  end
  local written, token = pcall(tokens.write, item) -- other code may name no buffer at all
  local name = item.token or (written and token) or item.type
  local found, fault = reader(item)
  if not found then
    table.insert(notices, ('context not sent: %s: %s'):format(name, fault))
    return nil
  end
  local content = found.content
  if found.cut then
    table.insert(notices, ('context cut: %s: %s'):format(name, found.cut))
    content = ('%s\n[cut: this is %s]'):format(content, found.cut)
  end
  local sent = item.type == 'buffer' and require('eca.context.buffer_text').described(item)
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
  for _, item in ipairs(M.list(chat, text)) do
    found[#found + 1] = read(item, notices)
  end
  for _, item in ipairs(others or {}) do
    local own = context_line.own(item)
    found[#found + 1] = own.type == 'cursor' and M.cursor() or read(own, notices)
  end
  local missing = vim.tbl_map(function(word)
    return word.text
  end, require('eca.context.missing').find(text))
  if #missing > 0 then
    local names = table.concat(missing, ', ')
    table.insert(notices, ('context not sent: not found: %s; correct the name'):format(names))
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
  end
  local is_file = item.type == 'file' or item.type == 'directory'
  return is_file and vim.uv.fs_stat(item.path) == nil
end

--- The text for a context on the context line: its token, for a buffer with its name.
---@param item eca.Context
---@return string
function M.label(item)
  local token = tokens.write(item)
  if item.type ~= 'buffer' or not vim.api.nvim_buf_is_valid(item.buf) then
    return token
  end
  local name = vim.fs.basename(require('eca.context.buffer_text').name(item.buf))
  return ('%s %s'):format(token, (name:gsub('^%d+:', ''))) -- of a terminal without its process
end

return M
