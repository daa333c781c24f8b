--- Called for every buffer of a chat when it is created, loses its text, or is about to be deleted.
local alert = require('eca.approval.alert')
local chat_tabs = require('eca.window.chat_tabs')
local drafts = require('eca.input.drafts')
local follow_end = require('eca.window.follow_end')
local host = require('eca.host')
local input = require('eca.input')
local mirror = require('eca.state.mirror')
local open = require('eca.chat.open')
local servers = require('eca.state.servers')
local transcript = require('eca.transcript')
local winbar = require('eca.window.winbar')

--- Milliseconds in which a fast server has started for sure. Loading what completes takes twelve,
--- in two halves in which nothing else is drawn: at 150 it was just then that the server was ready.
local START = 500

--- Set up completion in an input when the user first goes there, but not while the server starts;
--- or when the user types there. A chat that an autocommand opens is entered without `BufEnter`.
---@param buf integer
local function complete_in(buf)
  local attached = false
  local function attach()
    if not attached then
      attached = true
      require('eca.completion').attach(buf)
    end
  end
  vim.api.nvim_create_autocmd({ 'BufEnter', 'InsertEnter' }, {
    buffer = buf,
    callback = function(event)
      if not attached then
        vim.defer_fn(attach, event.event == 'BufEnter' and START or 0)
      end
      return attached -- true removes the autocommand
    end,
  })
end

alert.watch()
chat_tabs.open_with(open.chat)

---@type eca.BufferListener
return {
  created = function(chat, kind, gone)
    if kind == 'chat' then
      transcript.attach(chat.buf, chat.id)
      follow_end.attach(chat.buf, winbar.refresh_window)
    else
      input.attach(chat.input)
      drafts.follow(chat, gone)
      complete_in(chat.input)
    end
  end,
  emptied = function(chat, kind)
    if kind == 'chat' then -- only the host has its text
      transcript.attach(chat.buf, chat.id, true)
      local server = servers.unless_default(mirror.server_name(chat.id))
      host.send('open_chat', { chat = chat.id, redraw = true, server = server })
    else
      drafts.follow(chat, chat.input)
    end
  end,
  leaves = function()
    drafts.flush()
  end,
  gone = function(chat)
    drafts.forget_text(chat.input)
    drafts.flush() -- what is saved has no text of it any more
  end,
}
