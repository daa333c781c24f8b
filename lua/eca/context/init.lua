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
    if context_line.same(known.item, meant) then
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
  for _, item in ipairs(context_line.items(chat)) do
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

--- What reads the text that only Neovim knows, by type: a file of this room, and its function.
---@type table<eca.ContextType, [string, string]>
local READERS = {
  buffer = { 'buffer_text', 'read' },
  selection = { 'buffer_text', 'selection' },
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
  for _, source in ipairs(M.sources(chat, text)) do
    found[#found + 1] = read(source.item, notices)
  end
  for _, item in ipairs(others or {}) do
    local own = context_line.own(item)
    found[#found + 1] = own.type == 'cursor' and places.cursor() or read(own, notices)
  end
  local missing = text:find('@', 1, true) and require('eca.context.missing').find(text) or {}
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
