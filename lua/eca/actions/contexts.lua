--- Actions on contexts: add what the user is at, see what goes along, take it away.
local chats = require('eca.chat.buffers')
local choose = require('eca.ui.choose')
local contexts = require('eca.context')
local eca = require('eca')
local field = require('eca.input.field')
local notify = require('eca.ui.notify')
local sanitize = require('eca.ui.sanitize')
local selection = require('eca.context.selection')
local tokens = require('eca.context.tokens')

local M = {}

---@param item? eca.Context
local function add(item)
  if item then
    eca.add_context(item)
  end
end

--- Add the current buffer, or the selected lines of it; from the chat the last code window's.
function M.add()
  add(contexts.here(selection.lines()))
end

--- Add lines of the current buffer, or what is named: a file, some lines of it, a folder, a page.
---@param name? string
---@param first? integer
---@param last? integer
function M.add_named(name, first, last)
  if not name then
    add(contexts.here(first, last))
    return
  end
  local item = tokens.named(name)
  if not item then
    notify.warn('there is no ' .. name)
  end
  add(item)
end

--- Take what is named off the context line; without a name what there is of the current buffer.
---@param name? string as on the line, or a path
---@param first? integer
---@param last? integer
function M.remove_named(name, first, last)
  local what = name or contexts.here(first, last)
  if what and not eca.remove_context(what) then
    local shown = name or contexts.label(what)
    notify.warn(('%s is not on the context line'):format(shown))
  end
end

--- Take a token out of the draft, wherever it stands.
---@param buf integer
---@param token string
local function delete_token(buf, token)
  for row, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, false)) do
    local found = tokens.find(line)
    for index = #found, 1, -1 do
      local place = found[index]
      if place.context.token == token then
        local blank = line:sub(place.last + 1, place.last + 1) == ' ' and 1 or 0
        vim.api.nvim_buf_set_text(buf, row - 1, place.first - 1, row - 1, place.last + blank, {})
      end
    end
  end
end

---@param chat string
---@param choice eca.Along
local function take_away(chat, choice)
  if choice.entry then
    eca.remove_context(choice.entry, chat)
  elseif choice.item.token then
    delete_token(chats.get(chat).input, choice.item.token)
  else
    notify.info('@cursor is sent unless the option contexts.cursor is false')
  end
end

---@param along eca.Along
---@return string
local function describe(along)
  local origin = along.entry and '' or (along.item.token and '  in the prompt' or '  always')
  return sanitize.line(contexts.label(along.item)) .. origin
end

--- Show what goes along with a prompt now; what is chosen does so no longer.
function M.choose()
  local chat = eca.current()
  local all = contexts.sources(chat, field.of_chat(chat))
  if #all == 0 then
    notify.info('no contexts')
    return
  end
  local options = { prompt = 'Goes along; choose what no longer does', format_item = describe }
  choose.one(all, options, function(choice)
    if choice then
      take_away(chat, choice)
    end
  end)
end

return M
