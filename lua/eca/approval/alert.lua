--- Notifies the user, by a line and a bell, when a request becomes pending or a turn ends.
---
--- Rules kept here:
--- - By default a line is shown only if the chat is not in this tab page: what is in view needs no
---   words. The options `approval` and `turn` change that.
--- - A turn that the user stopped, or that is followed by another at once, gives no notice.
--- - The bell goes to the terminal, which has its own ways to show it: most users turn Vim's off.
local M = {}

--- Is the chat in this tab page?
---@param id string
---@return boolean
local function is_seen(id)
  local chat = require('eca.chat.buffers').get(id)
  return chat ~= nil and vim.fn.bufwinid(chat.buf) ~= -1
end

--- Ring the bell of every terminal that shows this Neovim.
local function ring()
  require('eca.host.comfort').try('no bell', function()
    if vim.api.nvim_ui_send then
      vim.api.nvim_ui_send('\a')
    else
      vim.fn.chansend(vim.v.stderr, '\a')
    end
  end)
end

--- Show a line about a chat, if the option says so.
---@param option 'hidden'|'always'|false
---@param chat string
---@param line string
local function notify(option, chat, line)
  if option == 'always' or (option == 'hidden' and not is_seen(chat)) then
    local title = require('eca.state.mirror').status(chat).title
    require('eca.ui.notify').info(line .. (title and (' (%s)'):format(title) or ''))
  end
end

local ENDS = { done = 'the turn has ended', rejected = 'the turn has ended' }
ENDS.failed, ENDS.gone = 'the turn has failed', 'the turn has ended: the server exited'

--- A turn has ended (event `EcaTurnFinished`).
---@param data { chat: string, reason: string }
local function ended(data)
  local line = ENDS[data.reason]
  if not line or require('eca.state.mirror').turn(data.chat) ~= 'idle' then
    return
  end
  local options = require('eca.config').get().turn
  notify(options.notify, data.chat, line)
  if options.bell then
    ring()
  end
end

--- Watch the ends of turns.
function M.watch()
  vim.api.nvim_create_autocmd('User', {
    group = vim.api.nvim_create_augroup('eca.approval.alert', {}),
    pattern = 'EcaTurnFinished',
    callback = function(event)
      vim.schedule(function()
        ended(event.data) -- the status comes after the event
      end)
    end,
  })
end

local NEEDS = { approval = 'approval needed: ', question = 'the agent asks: ' }

--- Notify the user of new requests.
---@param items eca.Pending[]
function M.requested(items)
  local options = require('eca.config').get().approval
  for _, item in ipairs(items) do
    notify(options.notify, item.chat, NEEDS[item.kind] .. item.title)
  end
  if options.bell and #items > 0 then
    ring()
  end
end

return M
