--- The contexts that only the editor knows: open buffers, and words such as `@diagnostics`.
---
--- Rules kept here:
--- - A word is offered only if it would send something.
--- - The list is made once for each token: 300 buffers take a few milliseconds.
local paths = require('eca.files.paths')
local places = require('eca.context.places')
local chats = require('eca.chat.buffers')
local mirror = require('eca.state.mirror')
local sanitize = require('eca.ui.sanitize')
local sizes = require('eca.context.sizes')
local symbols = require('eca.completion.symbols')
local texts = require('eca.context.texts')
local tokens = require('eca.context.tokens')

local M = {}

--- Most buffers in the list, the last used first.
local MOST_BUFFERS = 10

local contexts ---@type eca.CompletionItem[]?

local WORDS = { 'cursor', 'selection', 'diagnostics', 'quickfix', 'diff', 'terminal' }

---@type eca.CompletionItem
local SYMBOL = {
  text = symbols.PREFIX,
  label = symbols.PREFIX,
  kind = 'symbol',
  detail = 'a function or class: type its name',
}

--- Would a word send something?
---@type table<string, fun(): any>
local SENDS = {
  cursor = places.cursor,
  selection = places.selection,
  diagnostics = function()
    return next(vim.diagnostic.count())
  end,
  quickfix = function()
    return vim.fn.getqflist({ size = 0 }).size > 0
  end,
  diff = function()
    local folder = vim.fn.getcwd() -- '' if it is gone
    return folder ~= '' and vim.fs.root(folder, '.git')
  end,
  terminal = texts.last_terminal,
}

---@param item eca.Context
---@param kind string
---@param detail string
---@return eca.CompletionItem
local function item_of(item, kind, detail)
  local chat = chats.of_buffer(vim.api.nvim_get_current_buf())
  local size = item.type ~= 'file' and sizes.words({ item }, chat and chat.id)
  local text = tokens.write(item):sub(2)
  detail = size and ('%s · %s'):format(size, detail) or detail
  local label = sanitize.line((text:gsub('\\ ', ' ')))
  return { text = text, label = label, kind = kind, detail = sanitize.line(detail) }
end

---@param buf integer
---@return eca.CompletionItem?
local function buffer_item(buf)
  local path = paths.of_buffer(buf)
  if path then
    local stat = vim.uv.fs_stat(path)
    local is_file = stat ~= nil and stat.type == 'file' -- the agent reads it from the disk
    return is_file and item_of({ type = 'file', path = path }, 'buffer', 'open') or nil
  end
  local name = vim.api.nvim_buf_get_name(buf)
  local detail = name ~= '' and name or vim.api.nvim_buf_get_lines(buf, 0, 1, false)[1]
  return detail ~= '' and item_of({ type = 'buffer', buf = buf }, 'buffer', detail) or nil
end

--- The listed buffers, the last used first.
---@return eca.CompletionItem[]
local function buffer_items()
  local open = vim.tbl_filter(function(info)
    return info.loaded == 1
  end, paths.listed_buffers())
  local items = {} ---@type eca.CompletionItem[]
  for _, info in ipairs(vim.list_slice(open, 1, MOST_BUFFERS)) do
    items[#items + 1] = buffer_item(info.bufnr)
  end
  return items
end

--- The other chats, with their titles.
---@return eca.CompletionItem[]
local function chat_items()
  local here = chats.of_buffer(vim.api.nvim_get_current_buf())
  local items = {} ---@type eca.CompletionItem[]
  for _, id in ipairs(chats.ids()) do
    if not here or id ~= here.id then
      local item = { type = 'chat', chat = id, number = assert(chats.get(id)).number }
      items[#items + 1] = item_of(item, 'chat', mirror.title(id))
    end
  end
  return items
end

--- The items for a trigger.
---@param trigger eca.CompletionTrigger
---@return eca.CompletionItem[]
function M.list(trigger)
  if trigger ~= '@' then
    return {}
  end
  if not contexts then
    local items = buffer_items()
    for _, name in ipairs(WORDS) do
      local sends = SENDS[name]()
      items[#items + 1] = sends and item_of({ type = name }, name, tokens.NAMED[name]) or nil
    end
    items[#items + 1] = symbols.has_server() and SYMBOL or nil
    contexts = vim.list_extend(items, chat_items())
  end
  return contexts
end

--- Make the list again when it is needed next.
function M.forget()
  contexts = nil
end

return M
