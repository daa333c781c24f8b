--- What is typed and not sent, told to the host, which keeps it.
---
--- Rules kept here:
--- - It is told at the latest `LONGEST` after the first change that was not told, however long the
---   user types on; and at once when an input, its window or Neovim is left.
--- - At Neovim's end it is in a file as well (`unsent`), for a host that could not write it.
--- - The draft of a chat comes back once an input, above what is typed already. One whose draft was
---   told holds what would come back; the draft of a chat that is gone comes back all the same.
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

--- All that a chat's user typed and did not send: comments on changes, a draft that an answer, an
--- older prompt or a login stands in for, and the input. What is typed for a login is a secret.
---@param chat eca.Chat
---@return string
function M.text(chat)
  local said = package.loaded['eca.review.notes']
  local input = require('eca.input.login').set_aside(chat.id) or typed.text(chat.input)
  local aside, stands_in = require('eca.input.history').set_aside(chat.id)
  local parts = {
    said and said.prompt(chat.id) or '',
    require('eca.approval.answer_mode').set_aside(chat.id),
    aside,
    input ~= stands_in and input or '',
  }
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
    local chat = require('eca.state.chats').get(id)
    local text = chat and M.text(chat) or ''
    if chat and text ~= (told[id] or '') then
      told[id], filled[chat.input] = text, true
      require('eca.host').send('keep_draft', { chat = id, text = text })
    end
  end
  require('eca.host.held_intents').settle()
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
  for _, id in ipairs(require('eca.state.chats').ids()) do
    changed[id] = true
  end
end

--- Follow what is typed in a chat's input from now on.
---@param chat eca.Chat
---@param gone? integer an input that is gone or was emptied: what was in it comes back
function M.follow(chat, gone)
  local is_secret = gone ~= chat.input and require('eca.input.login').runs(chat.id)
  local text = gone and not is_secret and typed.text(gone) or ''
  if text ~= '' then
    filled[chat.input] = true
    require('eca.input').set_draft(chat.input, text)
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
  local text = require('eca.host.draft_file').take()
  if text then
    require('eca.input').put_back(buf, text)
  end
end

--- Op `draft`: what was typed in an earlier life.
---@param chat eca.Chat
---@param text string
---@param adopted boolean in a chat of a Neovim that is gone
function M.restore(chat, text, adopted)
  local is_there = require('eca.input').draft(chat.input):find(text, 1, true)
  if is_there or (filled[chat.input] and not adopted) then
    return
  end
  filled[chat.input] = true
  require('eca.input').put_back(chat.input, text)
end

vim.api.nvim_create_autocmd({ 'FocusLost', 'VimSuspend', 'VimLeavePre' }, {
  group = vim.api.nvim_create_augroup('eca.input.drafts', {}),
  callback = function()
    M.flush()
  end,
})

return M
