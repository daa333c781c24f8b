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
---@param trusted? boolean default: toggle
function M.set_trust(trusted)
  local chat = eca.current()
  local known = mirror.status(chat).trust or false
  if trusted == nil then
    trusted = not known
  end
  watch_trust(chat)
  host.send('trust', { chat = chat, trusted = trusted })
  if trusted == known then
    notify_trust(chat)
  end
end

--- Turn the chat's trust on or off.
function M.trust()
  M.set_trust()
end

---@param line string
---@return boolean
local function has_text(line)
  return line ~= ''
end

--- Choose one of this project's prompts and put it into the input.
function M.prompts()
  local prompts = history.newest_first()
  if #prompts == 0 then
    notify.info('no prompts sent in this project yet')
    return
  end
  local options = {
    prompt = 'Prompts',
    format_item = function(prompt)
      local lines = vim.tbl_map(scan.trim, vim.split(prompt, '\n', { plain = true }))
      return table.concat(vim.tbl_filter(has_text, lines), ' ⏎ ')
    end,
  }
  choose.one(prompts, options, function(prompt)
    if prompt then
      local id = eca.open()
      field.put_back(chats.ensure(id).input, prompt)
    end
  end)
end

--- Open the palette.
function M.palette()
  vim.cmd.Eca()
end

return M
