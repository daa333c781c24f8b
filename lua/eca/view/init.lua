--- The view: joins what draws with the host, in one place.
---
--- Rules kept here: a lower room never calls one above it. It says what happens, and who cares is
--- named here, before anything is sent to a host.
local alert = require('eca.approval.alert')
local buffers = require('eca.chat.buffers')
local chat_tabs = require('eca.window.chat_tabs')
local drafts = require('eca.input.drafts')
local expected = require('eca.state.expected')
local frames = require('eca.view.frames')
local host = require('eca.host')
local host_gone = require('eca.view.host_gone')
local mirror = require('eca.state.mirror')
local open = require('eca.chat.open')
local ops = require('eca.view.ops')
local windows = require('eca.window')

alert.watch()
buffers.listen(require('eca.view.chat_buffers'))
chat_tabs.open_with(open.chat)
expected.ask_current(windows.current_chat)
host.listen({
  draw = ops.draw,
  sending = expected.add,
  starting = function(serves)
    require('eca.editor.user_writes') -- which watches from now on
    if serves then
      ops.draw({ 'server', 'starting', mirror.server().label })
    end
  end,
  note = host_gone.note,
  lost = host_gone.show,
  cut = function()
    frames.forget()
    expected.forget()
  end,
  drafts = {
    ids = buffers.ids,
    text = function(id)
      return drafts.text(assert(buffers.get(id)))
    end,
    forget = drafts.forget,
    flush = drafts.flush,
  },
})

return {}
