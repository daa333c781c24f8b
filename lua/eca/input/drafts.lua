--- What is typed and not sent, told to the host, which keeps it.
---
--- Rules kept here:
--- - It is told at the latest `LONGEST` after the first change that was not told, however long the
---   user types on; and at once when an input, its window or Neovim is left.
--- - At Neovim's end it is in a file as well (`unsent`), for a host that could not write it.
--- - The draft of a chat comes back once an input, above what is typed already. One whose draft was
---   told holds what would come back; the draft of a chat that is gone comes back all the same.
local answer_mode = require('eca.input.answer_mode')
local buffers = require('eca.chat.buffers')
local draft_file = require('eca.host.draft_file')
local field = require('eca.input.field')
local history = require('eca.input.history')
local host = require('eca.host')
local input_mode = require('eca.state.input_mode')
local typed = require('eca.input.texts')

local M = {}

--- Milliseconds that a change waits at most until it is told. With the host's own pause before it
--- writes it is less than a second.
local LONGEST = 400

local told = {} ---@type table<string, string> by chat
local changed = {} ---@type table<string, true> chats
local filled = {} ---@type table<integer, true> inputs whose own draft came back or was told
local took_over = false -- what Neovims without a host have left
local timer = assert(vim.uv.new_timer())
local sources = {} ---@type (fun(chat: string): string)[]

--- Add what else the user has typed in a chat and not sent, outside its input.
---@param source fun(chat: string): string
function M.add_source(source)
  sources[#sources + 1] = source
end

--- All that a chat's user typed and did not send: comments on changes, a draft that an answer, an
--- older prompt or a login stands in for, and the input. What is typed for a login is a secret.
---@param chat eca.Chat
---@return string
function M.text(chat)
  local input = field.aside(chat.id) or typed.text(chat.input)
  local aside, stands_in = history.set_aside(chat.id)
  local parts = vim.tbl_map(function(source)
    return source(chat.id)
  end, sources)
  vim.list_extend(parts, {
    answer_mode.set_aside(chat.id),
    aside,
    input ~= stands_in and input or '',
  })
  return vim
    .iter(parts)
    :filter(function(part)
      return part:find('%S') ~= nil
    end)
    :join('\n')
end

--- Tell the drafts that changed.
function M.flush()
  timer:stop()
  local ids = changed
  changed = {}
  for id in pairs(ids) do
    local chat = buffers.get(id)
    local text = chat and M.text(chat) or ''
    if chat and text ~= (told[id] or '') then
      told[id], filled[chat.input] = text, true
      host.send('keep_draft', { chat = id, text = text })
    end
  end
  host.settle()
end

--- A chat's draft has changed.
---@param id string
function M.changed(id)
  changed[id] = true
  if not timer:is_active() then
    timer:start(LONGEST, 0, vim.schedule_wrap(M.flush))
  end
end

--- The host that was told is gone: the next one must be told all.
function M.forget()
  told = {}
  for _, id in ipairs(buffers.ids()) do
    changed[id] = true
  end
end

--- Follow what is typed in a chat's input from now on.
---@param chat eca.Chat
---@param gone? integer an input that is gone or was emptied: what was in it comes back
function M.follow(chat, gone)
  local is_secret = gone ~= chat.input and input_mode.is_login(chat.id)
  local text = gone and not is_secret and typed.text(gone) or ''
  if text ~= '' then
    filled[chat.input] = true
    field.set_draft(chat.input, text)
  end
  if gone and gone ~= chat.input then
    typed.forget(gone)
  end
  typed.watch(chat.input, function()
    M.changed(chat.id)
  end)
end

--- Put what Neovims without a host have left into the first input that is seen.
---@param buf integer
function M.take_over(buf)
  if took_over then
    return
  end
  took_over = true
  local text = draft_file.take()
  if text then
    field.put_back(buf, text)
  end
end

--- Op `draft`: what was typed in an earlier life.
---@param chat eca.Chat
---@param text string
---@param adopted boolean in a chat of a Neovim that is gone
function M.restore(chat, text, adopted)
  local is_there = field.draft(chat.input):find(text, 1, true)
  if is_there or (filled[chat.input] and not adopted) then
    return
  end
  filled[chat.input] = true
  field.put_back(chat.input, text)
end

field.keep_with(M.changed)

vim.api.nvim_create_autocmd({ 'FocusLost', 'VimSuspend', 'VimLeavePre' }, {
  group = vim.api.nvim_create_augroup('eca.input.drafts', {}),
  callback = function()
    M.flush()
  end,
})

return M
