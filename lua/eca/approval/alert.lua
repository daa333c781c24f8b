--- Calls the user when something begins to wait for his word, or a turn has ended: a line, a bell.
---
--- Rules kept here:
--- - By default a line is shown only when he cannot see the chat where he looks: it is not in this
---   tab page, or Neovim has lost the focus. The options `approval` and `turn` say otherwise.
--- - A turn that the user stopped, or that another follows at once, calls nobody.
--- - The bell goes to the terminal, for its own ways to call: Vim's bell is off for most.
local M = {}

local focused = true

local ended ---@type fun(data: { chat: string, reason: string })

--- Follow whether the user looks at Neovim, and turns as they end.
function M.watch()
  local group = vim.api.nvim_create_augroup('eca.approval.alert', {})
  for event, is_here in pairs({ FocusGained = true, FocusLost = false }) do
    vim.api.nvim_create_autocmd(event, {
      group = group,
      callback = function()
        focused = is_here
      end,
    })
  end
  vim.api.nvim_create_autocmd('User', {
    group = group,
    pattern = 'EcaTurnFinished',
    callback = function(event)
      vim.schedule(function()
        ended(event.data) -- the status comes after the event
      end)
    end,
  })
end

--- Is the chat in this tab page, and the user here?
---@param id string
---@return boolean
local function is_seen(id)
  local chat = require('eca.chat.buffers').get(id)
  if not focused or not chat then
    return false
  end
  return vim.iter(vim.api.nvim_tabpage_list_wins(0)):any(function(win)
    return vim.api.nvim_win_get_buf(win) == chat.buf
  end)
end

--- Ring the bell of every terminal that shows this Neovim.
local function ring()
  if vim.api.nvim_ui_send then
    vim.api.nvim_ui_send('\a')
  else
    vim.fn.chansend(vim.v.stderr, '\a')
  end
end

--- Show a line about a chat, if the option wants it.
---@param option 'hidden'|'always'|false
---@param chat string
---@param line string
local function tell(option, chat, line)
  if option == 'always' or (option == 'hidden' and not is_seen(chat)) then
    local title = require('eca.state.mirror').status(chat).title
    require('eca.ui.notify').info(line .. (title and (' (%s)'):format(title) or ''))
  end
end

local ENDS = { done = 'the turn has ended', rejected = 'the turn has ended' }
ENDS.failed, ENDS.gone = 'the turn has failed', 'the turn has ended with the server'

--- A turn has ended (event `EcaTurnFinished`).
---@param data { chat: string, reason: string }
function ended(data)
  local line = ENDS[data.reason]
  if not line or require('eca.state.mirror').turn(data.chat) ~= 'idle' then
    return
  end
  local options = require('eca.config').get().turn
  tell(options.notify, data.chat, line)
  if options.bell then
    ring()
  end
end

--- Some requests have begun to wait.
---@param items eca.Pending[]
function M.call(items)
  local options = require('eca.config').get().approval
  for _, item in ipairs(items) do
    tell(options.notify, item.chat, 'waits for you: ' .. item.title)
  end
  if options.bell and #items > 0 then
    ring()
  end
end

return M
