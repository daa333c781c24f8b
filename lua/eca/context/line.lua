--- The context line of every chat: what goes along with each of its prompts until it is taken off.
---
--- Rules kept here:
--- - What is added stands there at once, if it can be written. The host says a moment later what is
---   wrong with it, and then it goes again; the host looks at it once more with each prompt.
--- - A file named without lines means all of it that stands there.
local buffer_text = require('eca.context.buffer_text')
local paths = require('eca.files.paths')
local requests = require('eca.host.requests')
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

--- What others handed in, as it is kept: a copy with an absolute path and without functions, which
--- cannot be sent.
---@param item any
---@return eca.Context
function M.own(item)
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
  end, M.items(chat))
end

---@param chat string
---@param item eca.Context
---@return boolean
local function is_on(chat, item)
  return vim.iter(M.items(chat)):any(function(known)
    return known ~= item and M.same(known, item)
  end)
end

--- Put something on a chat's line; the same thing twice stays one.
---@param chat string
---@param item any
---@param checked fun(fault?: string) the host has looked at it; with a fault it is off again
function M.add(chat, item, checked)
  local own = M.own(item)
  if pcall(tokens.write, own) then
    own.token = nil
    if is_on(chat, own) then
      return
    end
    lines[chat] = vim.list_extend(lines[chat] or {}, { own })
  end
  if own.type == 'cursor' then
    return
  end
  requests.ask('check_context', { item = buffer_text.described(own) }, function(answer)
    if answer.fault then
      take_off(chat, own)
    else
      own.first, own.last = answer.first or own.first, answer.last or own.last
      if is_on(chat, own) then
        take_off(chat, own)
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
