--- Calls the user when something begins to wait for his word: a line, a bell.
---
--- Rules kept here:
--- - By default a line is shown only when he cannot see the request where he looks: the chat is not
---   in this tab page, or Neovim has lost the focus. The options `approval.notify` and
---   `approval.bell` say otherwise.
--- - The bell goes to the terminal, for its own ways to call: Vim's bell is off for most.
local M = {}

local focused = true

--- Follow whether the user looks at Neovim.
function M.watch()
  local group = vim.api.nvim_create_augroup('eca.calling', {})
  for event, is_here in pairs({ FocusGained = true, FocusLost = false }) do
    vim.api.nvim_create_autocmd(event, {
      group = group,
      callback = function()
        focused = is_here
      end,
    })
  end
end

--- Is the chat in this tab page, and the user here?
---@param id string
---@return boolean
local function is_seen(id)
  local chat = require('eca.chats').get(id)
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

---@param item eca.Pending
local function tell(item)
  local title = require('eca.mirror').status(item.chat).title
  local chat = title and (' (%s)'):format(title) or ''
  require('eca.notify').info(('waits for you: %s%s'):format(item.title, chat))
end

--- Some requests have begun to wait.
---@param items eca.Pending[]
function M.call(items)
  local options = require('eca.config').get().approval
  for _, item in ipairs(items) do
    if options.notify == 'always' or (options.notify == 'hidden' and not is_seen(item.chat)) then
      tell(item)
    end
  end
  if options.bell and #items > 0 then
    ring()
  end
end

return M
