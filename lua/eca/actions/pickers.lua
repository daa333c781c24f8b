--- Actions that switch trust on and off, choose an earlier prompt, and open the palette.
---
--- Rule kept here: trust counts only once the host confirms it.
local chats = require('eca.chat.buffers')
local choose = require('eca.ui.choose')
local eca = require('eca')
local field = require('eca.input.field')
local history = require('eca.input.history')
local host = require('eca.host')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local scan = require('eca.text.scan')

local M = {}

---@param chat string
local function notify_trust(chat)
  if mirror.status(chat).trust then
    local waits = #mirror.pending(chat) > 0
    local what = waits and 'tools run WITHOUT ASKING (what waits still asks)' -- fits 80 columns
      or 'tools of this chat run WITHOUT ASKING'
    notify.warn('trust on: ' .. what)
  else
    notify.info('trust off: this chat asks before tools run')
  end
end

--- Show a message whenever a chat's trust changes.
---@param chat string
local function watch_trust(chat)
  local known = mirror.status(chat).trust or false
  vim.api.nvim_create_autocmd('User', {
    group = vim.api.nvim_create_augroup('eca.trust.' .. chat, {}),
    pattern = 'EcaStatusChanged',
    callback = function(event)
      local trust = event.data.status.trust
      if event.data.chat == chat and trust ~= known then
        known = trust
        notify_trust(chat)
      end
    end,
  })
end

--- Turn the chat's trust on or off. A message follows when the host confirms it.
---@param word? 'on'|'off' default: toggle
function M.trust(word)
  local chat = eca.current()
  local known = mirror.status(chat).trust or false
  local trusted = word == 'on' or word == nil and not known
  watch_trust(chat)
  host.send('trust', { chat = chat, trusted = trusted })
  if trusted == known then
    notify_trust(chat)
  end
end

--- Choose one of this project's prompts and put it into the input.
function M.prompts()
  local prompts = history.newest_first()
  if #prompts == 0 then
    return notify.info('no prompts sent in this project yet')
  end
  choose.one('Prompts', prompts, function(prompt)
    local lines = vim.iter(vim.split(prompt, '\n', { plain = true })):map(scan.trim)
    return lines
      :filter(function(line)
        return line ~= ''
      end)
      :join(' ⏎ ')
  end, function(prompt)
    field.put_back(chats.ensure(eca.open()).input, prompt)
  end)
end

--- Open the palette.
function M.palette()
  vim.cmd.Eca()
end

return M
