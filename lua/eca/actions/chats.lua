--- Actions on chats: open, hide, make, choose.
local M = {}

--- Go to the chat; in visual mode, with the selected lines as context.
function M.open()
  if require('eca.selection').active() then
    require('eca.actions.prompts').add_context()
  end
  require('eca').open()
end

--- Hide the chat when it is shown, else open it.
function M.toggle()
  require('eca').toggle()
end

--- Hide the chat.
function M.hide()
  require('eca').hide()
end

--- Start a new chat.
function M.new()
  require('eca').new()
end

--- Go to the input and begin to type.
function M.insert()
  require('eca').open()
  vim.cmd.startinsert({ bang = true })
end

--- Show what the chat uses: tokens by category, and cost.
function M.usage()
  require('eca.usage').show(require('eca.chats').current())
end

---@param chat { id: string, title?: string, state: string }
---@return string
local function describe(chat)
  local title = chat.title or 'New chat'
  return chat.state == 'idle' and title or ('%s (%s)'):format(title, chat.state)
end

--- Choose one of the chats of this session and open it.
function M.pick()
  local all = require('eca').chats()
  if #all == 0 then
    require('eca.notify').info('there is no chat yet')
    return
  end
  vim.ui.select(all, { prompt = 'Chats', format_item = describe }, function(chat)
    if chat then
      require('eca').open({ chat = chat.id })
    end
  end)
end

return M
