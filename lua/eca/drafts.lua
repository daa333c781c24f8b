--- What is typed and not sent, told to the host, which keeps it.
---
--- Rules kept here:
--- - It is told a moment after the last change, and when Neovim leaves. While there is no host to
---   be told it is on the disk all the same (`unsent`).
--- - What comes back from an earlier life does so once an input, above what is typed already.
---   An input whose draft was told holds what would come back.
local M = {}

--- Milliseconds without a change after which a draft is told.
local QUIET = 800

local told = {} ---@type table<string, string> by chat
local changed = {} ---@type table<string, integer> inputs by chat
local filled = {} ---@type table<integer, true> inputs that nothing comes back into
local took_over = false -- what Neovims without a host have left
local timer = assert(vim.uv.new_timer())

--- Tell the drafts that changed.
function M.flush()
  timer:stop()
  local inputs = changed
  changed = {}
  for chat, buf in pairs(inputs) do
    local text = vim.api.nvim_buf_is_loaded(buf) and require('eca.input').draft(buf) or ''
    if text ~= (told[chat] or '') then
      told[chat], filled[buf] = text, true
      require('eca.host').send('keep_draft', { chat = chat, text = text })
    end
  end
  require('eca.unheard').settle()
end

--- Put what a Neovim without a host has left into the first input.
---@param buf integer
local function take_over(buf)
  took_over = true
  local text = require('eca.unsent').take()
  if text then
    require('eca.input').put_back(buf, text)
  end
end

--- The draft of a chat has changed.
---@param chat eca.Chat
function M.changed(chat)
  changed[chat.id] = chat.input
  if not took_over then
    take_over(chat.input)
  end
  timer:start(QUIET, 0, vim.schedule_wrap(M.flush))
end

--- Op `draft`: what was typed in an earlier life.
---@param chat eca.Chat
---@param text string
function M.restore(chat, text)
  local is_there = require('eca.input').draft(chat.input):find(text, 1, true)
  if filled[chat.input] or is_there then
    return
  end
  filled[chat.input], told[chat.id] = true, text
  require('eca.input').put_back(chat.input, text)
end

vim.api.nvim_create_autocmd('VimLeavePre', {
  group = vim.api.nvim_create_augroup('eca.drafts', {}),
  callback = M.flush,
})

return M
