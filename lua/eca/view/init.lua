--- The view: connects the host with the rooms that draw, in one place.
---
--- Rules kept here:
--- - A lower room never calls one above it. It calls the listeners that are set here, before
---   anything is sent to a host.
--- - The host starts first: listeners are loaded when they are called, while the host is starting.
local buffers = require('eca.chat.buffers')
local expected = require('eca.chat.expected')
local host = require('eca.host')

buffers.listen(function()
  return require('eca.view.chat_buffers')
end)
host.listen({
  draw = function(op)
    require('eca.view.frames').apply(nil, { op })
  end,
  publish = expected.publish,
  starting = function(server)
    require('eca.editor.user_writes') -- watches from now on
    local panels = package.loaded['eca.panels'] -- late: not before one is shown
    if panels then
      vim.schedule(panels.host_started)
    end
    if server then
      local label = require('eca.state.mirror').server(server).label
      local op = { op = 'server', server = server, state = 'starting', label = label }
      require('eca.view.frames').apply(nil, { op })
    end
  end,
  note = function(line)
    require('eca.view.host_gone').note(line)
  end,
  lost = function()
    require('eca.view.host_gone').show()
    local panels = package.loaded['eca.panels']
    if panels then
      panels.host_gone()
    end
  end,
  cut = function()
    require('eca.view.frames').forget()
  end,
  drafts = {
    ids = buffers.ids,
    text = function(id)
      return require('eca.input.drafts').text(assert(buffers.get(id)))
    end,
    forget = function()
      require('eca.input.drafts').forget()
    end,
    flush = function()
      require('eca.input.drafts').flush()
    end,
  },
})

return {}
