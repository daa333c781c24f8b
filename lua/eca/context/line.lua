--- The context line of every chat: what goes along with each of its prompts until it is taken off.
---
--- Rules kept here: only what was checked stands there; a file named without lines means all of it
--- that stands there.
local paths = require('eca.files.paths')
local tokens = require('eca.context.tokens')

local M = {}

local lines = {} ---@type table<string, eca.Context[]> by chat

--- What stands on a chat's line, in the order of adding.
---@param chat string
---@return eca.Context[]
function M.items(chat)
  return lines[chat] or {}
end

--- How what stands there is written.
---@param chat string
---@return string[]
function M.labels(chat)
  return vim.tbl_map(tokens.write, M.items(chat))
end

--- Do two contexts say the same, whatever token names them?
---@param one eca.Context
---@param other eca.Context
---@return boolean
function M.same(one, other)
  local bare = vim.tbl_extend('force', {}, other)
  bare.token = one.token
  return vim.deep_equal(one, bare)
end

--- Put something on a chat's line; the same thing twice stays one.
---@param chat string
---@param item eca.Context
---@return string? fault one line; nothing was added then
function M.add(chat, item)
  -- late: the first chat does not need it
  local checked, fault = require('eca.context.checks').check(item)
  if not checked then
    return fault
  end
  checked.token = nil
  for _, known in ipairs(M.items(chat)) do
    if M.same(known, checked) then
      return nil
    end
  end
  lines[chat] = vim.list_extend(lines[chat] or {}, { checked })
end

---@param item eca.Context
---@param wanted eca.Context
---@return boolean
local function is_meant(item, wanted)
  if wanted.first or wanted.last or not (wanted.path or wanted.buf) then
    return M.same(item, wanted)
  end
  local path = wanted.path and paths.normalize(wanted.path)
  return item.path == path and item.buf == wanted.buf
end

--- What a name means: the one written so, else a path.
---@param chat string
---@param name string
---@return fun(item: eca.Context): boolean
local function by_name(chat, name)
  local label = '@' .. name:gsub('^@', '')
  if vim.list_contains(M.labels(chat), label) then
    return function(item)
      return tokens.write(item) == label
    end
  end
  local named = tokens.named(name) or { path = name }
  return function(item)
    return is_meant(item, named)
  end
end

--- Take something off a chat's line.
---@param chat string
---@param what eca.Context|string a context, or how one is written, or a path
---@return boolean removed
function M.remove(chat, what)
  local meant = type(what) == 'string' and by_name(chat, what)
    or function(item)
      return type(what) == 'table' and is_meant(item, what)
    end
  local before = M.items(chat)
  lines[chat] = vim.tbl_filter(function(item)
    return not meant(item)
  end, before)
  return #lines[chat] < #before
end

return M
