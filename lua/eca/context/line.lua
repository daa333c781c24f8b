--- The context line of every chat: contexts sent with each prompt until they are removed.
---
--- Rules kept here:
--- - A context is added at once if it has a label. The host then checks it, and one that cannot
---   be sent is removed again. The host checks all contexts again with each prompt.
--- - A file named without lines means all entries of that file.
local paths = require('eca.files.paths')
local requests = require('eca.host.requests')
local tokens = require('eca.context.tokens')

local M = {}

local lines = {} ---@type table<string, eca.Context[]> by chat

--- The contexts on a chat's line, in the order in which they were added.
---@param chat string
---@return eca.Context[]
function M.items(chat)
  return lines[chat] or {}
end

--- The labels of these contexts.
---@param chat string
---@return string[]
function M.labels(chat)
  return vim.tbl_map(tokens.write, M.items(chat))
end

--- Are two contexts equal, apart from how they were written?
---@param one eca.Context
---@param other eca.Context
---@return boolean
function M.same(one, other)
  local bare = vim.tbl_extend('force', {}, other)
  bare.token, bare.written = one.token, one.written
  return vim.deep_equal(one, bare)
end

--- Copy a context of other code: with an absolute path, and without functions, as these cannot be
--- sent.
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

--- Add a context to a chat's line; one that is there already is not added again.
---@param chat string
---@param item any
---@param checked fun(fault?: string) called after the check; with a fault, it is removed again
function M.add(chat, item, checked)
  local own = M.own(item)
  if pcall(tokens.write, own) then
    own.token = nil
    if is_on(chat, own) then
      return
    end
    lines[chat] = vim.list_extend(lines[chat] or {}, { own })
  end
  if tokens.NAMED[own.type] then
    return -- it is read with each prompt, and may be empty now
  end
  local described = require('eca.context.buffer_text').described(own) -- late: rarely needed
  requests.ask('check_context', { item = described }, function(answer)
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
  local before = M.items(chat)
  lines[chat] = vim.tbl_filter(function(item)
    if is_label then
      return tokens.write(item) ~= label
    end
    return type(wanted) ~= 'table' or not is_meant(item, wanted)
  end, before)
  return #lines[chat] < #before
end

return M
