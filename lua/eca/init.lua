--- The Lua API of the plugin.
---
--- Rules kept here:
--- - No function blocks: they return what the host has sent so far, together with what was sent to
---   it since. The one exception is `transcript` without a callback.
--- - A configuration calls `setup` while Neovim starts, so everything else is loaded at its first
---   use.
--- - A function without the id of a chat acts on the current one: that of the current buffer, else
---   of this tab page, else the last one used.
local M = {}

local TRANSCRIPT_TIMEOUT = 5000 -- ms

---@param name string
---@param payload table<string, any>
local function send(name, payload)
  require('eca.view') -- joins the host with what draws
  require('eca.host').send(name, payload)
end

--- Set options, merged into those of `vim.g.eca`. Optional, and without any other effect.
---@param opts? table<string, any>
function M.setup(opts)
  require('eca.config').setup(opts)
  local host = package.loaded['eca.host']
  if host then
    host.send_options()
  end
end

--- The current chat; created if there is none.
---@return string id
function M.current()
  require('eca.view') -- joins the host with what draws
  return require('eca.window').current_chat() or require('eca.chat.buffers').new()
end

---@class eca.OpenOptions
---@field chat? string default: the current one; a saved chat is resumed
---@field mods? table modifiers of a command (`smods`), for the layout
---@field server? string the name of the server of a new chat; without `chat` one is made

--- Open a chat, or go to it if it is open. Its input becomes the current window.
---@param opts? eca.OpenOptions
---@return string id
function M.open(opts)
  opts = opts or {}
  require('eca.view') -- joins the host with what draws
  -- The host of the first chat starts before the windows are loaded.
  local is_first = require('eca.chat.buffers').latest() == nil
  local is_for_new = is_first or opts.server ~= nil
  local here = not is_for_new and require('eca.window').current_chat() or nil
  local id = opts.chat or here or require('eca.chat.buffers').new_id()
  require('eca.chat.open').chat(id, opts.mods, opts.chat == nil, opts.server)
  return id
end

--- Close the chat's windows in this tab page. The chat itself stays.
function M.hide()
  require('eca.window').hide()
end

--- Hide the chat if this tab page shows it, else open it.
function M.toggle()
  if not require('eca.window').hide() then
    M.open()
  end
end

--- Start a new chat and open it.
---@param opts? eca.OpenOptions without `chat`
---@return string id
function M.new(opts)
  require('eca.view') -- joins the host with what draws
  local id = require('eca.chat.buffers').new()
  opts = opts or {}
  return M.open({ chat = id, mods = opts.mods, server = opts.server })
end

---@class eca.SendOptions
---@field chat? string
---@field contexts? eca.Context[] in addition to those of the chat
---@field queue? boolean send it when the running turn ends
---@field server? string the name of the server of a new chat; without `chat` one is created
---@field typed? string what the user has typed for it, to be offered again

--- Send a prompt. No window is opened or scrolled, because other code may send at any time. Keys
--- and commands scroll to the end in addition.
---@param text string
---@param opts? eca.SendOptions
---@return string id of the chat
function M.send(text, opts)
  opts = opts or {}
  require('eca.view') -- joins the host with what draws
  local id = opts.chat or (opts.server and require('eca.chat.buffers').new_id()) or M.current()
  -- The ranges that wait in the draft for the next prompt go with this one.
  local input = require('eca.chat.buffers').ensure(id).input
  require('eca.input').send(id, require('eca.input.field').with_ranges(input, text), opts)
  return id
end

--- Stop the running turn.
---@param chat? string
function M.stop(chat)
  send('stop', { chat = chat or M.current() })
end

---@class eca.DecideOptions
---@field id? string of `pending()`, or the agent's own if only one request has it; default: that of
---the float or the diff on the screen, else the oldest of the current chat, else the oldest
---@field remember? boolean always allow it in this session
---@field all? boolean also those that were not on the screen: the script decides
---@field chat? string only requests of this chat
---@field reason? string what to do instead
---@field hunks? integer[] only these hunks are written, by their `n` in `pending()`; not with `all`
---@field digest? string that of `pending()`: nothing is allowed if the request shows something else

--- The pending requests of a kind, limited to a chat or an id if one is given: one of `pending()`,
--- else the agent's own, which several may have.
---@param kind 'approval'|'question'
---@param opts { chat?: string, id?: string }
---@return eca.Pending[], string fault one line, for when there is none
local function candidates(kind, opts)
  local found, of_agent = {}, {} ---@type eca.Pending[], eca.Pending[]
  for _, item in ipairs(require('eca.chat.expected').pending(opts.chat)) do
    if item.kind == kind and (not opts.id or item.id == opts.id) then
      found[#found + 1] = item
    elseif item.kind == kind and item.call == opts.id then
      of_agent[#of_agent + 1] = item
    end
  end
  found = #found > 0 and found or of_agent
  if opts.id and #found > 1 then
    local several = "%d requests have the id '%s': name one by its id in pending()"
    return {}, several:format(#found, opts.id)
  end
  local nothing = kind == 'approval' and 'no pending request' or 'no pending question'
  return found, opts.id and ("%s with the id '%s'"):format(nothing, opts.id) or nothing
end

--- The tool calls that the options select.
---@param opts eca.DecideOptions
---@return eca.Pending[], string fault one line, for when there is none
local function meant(opts)
  local waiting, fault = candidates('approval', opts)
  return opts.all and waiting or { require('eca.approval').meant(waiting, opts.digest) }, fault
end

--- Answer requests, or show why there is none.
---@param items eca.Pending[]
---@param fault string
---@param answer 'accept'|'reject'|'choose_named'|'answer' a function of `eca.input.decide`
---@param ... any
local function decide(items, fault, answer, ...)
  if #items == 0 then
    require('eca.ui.notify').info(fault)
  end
  for _, item in ipairs(items) do
    require('eca.input.decide')[answer](item, ...)
  end
end

--- Allow a pending tool call, or all of them.
---@param opts? eca.DecideOptions
function M.approve(opts)
  opts = opts or {}
  local items, fault = meant(opts)
  if opts.hunks and #items > 0 then
    require('eca.diff.edits').allow(items[1], opts)
  else
    decide(items, fault, 'accept', opts.remember)
  end
end

--- Reject a pending tool call. The reason is sent as the next prompt when the turn has ended.
---@param opts? eca.DecideOptions
function M.reject(opts)
  opts = opts or {}
  local items, fault = meant(opts)
  if #items == 0 and opts.reason then
    require('eca.input.decide').keep(opts.chat or M.current(), opts.reason, fault)
    return
  end
  decide(items, fault, 'reject', opts.reason)
end

---@class eca.ChooseOptions
---@field id? string of the request, as in `eca.DecideOptions`
---@field choice string|integer the number of one of its `choices`, its kind, or its id
---@field chat? string only requests of this chat

--- Answer a pending tool call by one of the choices that its agent offers.
---@param opts eca.ChooseOptions
function M.choose(opts)
  local items, fault = meant(opts)
  decide(items, fault, 'choose_named', tostring(opts.choice))
end

---@class eca.AnswerOptions
---@field id? string of `pending()`, or the agent's own if only one request has it; default: the
---oldest question of the current chat, else the oldest
---@field chat? string only questions of this chat

--- Answer a question.
---@param text? string nil: cancel the question
---@param opts? eca.AnswerOptions
function M.answer(text, opts)
  local items, fault = candidates('question', opts or {})
  local chat = require('eca.window').current_chat()
  local here = vim.tbl_filter(function(item)
    return item.chat == chat
  end, items)
  decide({ here[1] or items[1] }, fault, 'answer', text)
end

--- The pending requests, oldest first.
---@return eca.PublicPending[]
function M.pending()
  return require('eca.chat.expected').public()
end

--- Add a context to the current chat. If it is refused, a message of one line says why.
---@param item eca.Context
function M.add_context(item)
  local id = M.current()
  require('eca.context').add(id, item, function(fault)
    if fault then
      require('eca.ui.notify').warn('context not added: ' .. fault)
    end
    require('eca.window.winbar').refresh(id)
  end)
  require('eca.window.winbar').refresh(id)
end

--- Remove a context from a chat. A file without lines also removes contexts for some of its lines.
---@param what eca.Context|string a context, or its token, or a path
---@param chat? string default: the current one
---@return boolean removed false: there is none
function M.remove_context(what, chat)
  local id = chat or M.current()
  local removed = require('eca.context').remove(id, what)
  require('eca.window.winbar').refresh(id)
  return removed
end

--- The contexts that a prompt would be sent with now, tokens of the draft included.
---@return eca.Context[]
function M.contexts()
  local id = M.current()
  return vim.tbl_map(function(source)
    return source.item
  end, require('eca.context').sources(id, require('eca.input.field').of_chat(id)))
end

--- The chats of this session, oldest first.
---@return eca.PublicChat[]
function M.chats()
  local chats, expected = require('eca.chat.buffers'), require('eca.chat.expected')
  return vim.tbl_map(function(id)
    local status = expected.status(id)
    local chat = { id = id, title = status.title, state = status.state }
    chat.buf, chat.server_name = chats.get(id).buf, status.server_name
    return chat
  end, chats.ids())
end

--- The files that the agent of a chat has used, the hottest first (`:help eca.files()`).
---@param chat? string
---@return eca.FileUsed[]
function M.files(chat)
  local id = chat or require('eca.window').current_chat()
  return id and require('eca.state.used_files').list(id) or {}
end

--- The files before each prompt, the newest first (`:help eca.checkpoints()`).
---@return eca.PublicCheckpoint[]
function M.checkpoints()
  return require('eca.state.checkpoints').list()
end

---@class eca.RestoreOptions
---@field checkpoint string the id of one of `checkpoints()`
---@field files? boolean default: true
---@field history? boolean also undo its chat from the prompt on; default: false

---@class eca.Restored
---@field files { path: string, done?: 'restored'|'created'|'deleted', fault?: string }[]
---@field undo? string the id of a checkpoint of the files before that
---@field fault? string why nothing was done to files

--- Go back to a checkpoint, as if the user had confirmed (`:help eca.restore()`).
---@param opts eca.RestoreOptions
---@param callback? fun(result: eca.Restored)
function M.restore(opts, callback)
  require('eca.view') -- joins the host with what draws
  require('eca.host').ask('restore_checkpoint', {
    checkpoint = opts.checkpoint,
    files = opts.files ~= false,
    history = opts.history == true,
  }, function(result)
    local answer = require('eca.state.mirror').clean(result or {})
    if callback then
      callback(answer)
    elseif answer.fault then
      require('eca.ui.notify').warn('nothing was restored: ' .. answer.fault)
    end
  end)
end

--- The tool servers of all servers (`:help eca.mcp()`).
---@return eca.ToolServer[]
function M.mcp()
  return require('eca.state.tool_servers').all()
end

--- The tools of all servers (`:help eca.tools()`).
---@return eca.PublicTool[]
function M.tools()
  return require('eca.state.tool_servers').tools()
end

--- The commands that the servers run or have run in the background (`:help eca.jobs()`).
---@param server? string the name of one of them
---@return eca.PublicJob[]
function M.jobs(server)
  return require('eca.state.mirror').public_jobs(server)
end

--- Changes that are shown in a buffer before they are made (`:help eca.rewrite()` and below it).
for _, name in ipairs({ 'rewrite', 'previews', 'accept', 'drop' }) do
  M[name] = function(opts)
    require('eca.view') -- joins the host with what draws
    return require('eca.preview')[name](opts)
  end
end

--- Ask what completes the text at the cursor (`:help eca.complete()`).
---@param buf? integer
function M.complete(buf)
  require('eca.actions.inline').complete(buf)
end

--- What a key could accept of the completion at the cursor (`:help eca.completion()`).
---@return string?
function M.completion()
  return require('eca.actions.inline').completion()
end

--- The status of the current chat.
---@return eca.Status
function M.status()
  return require('eca.chat.expected').status(require('eca.window').current_chat())
end

--- Who offers models, as far as the servers were asked for it: by a login, or by the panel.
---@return eca.PublicProvider[]
function M.providers()
  return require('eca.state.mirror').providers()
end

--- A short, escaped text for a statusline: state, number of pending requests, model, and TRUST, or
--- what else is set, while tools run without asking. Empty without a chat.
---@return string
function M.statusline()
  local status = M.status()
  local process = status.asleep and 'asleep' or status.server
  if process == 'stopped' or not status.chat then
    return ''
  end
  local words = { 'eca:', process == 'ready' and status.state or process }
  words[#words + 1] = status.pending > 0 and ('(%d)'):format(status.pending) or nil
  words[#words + 1] = status.model
  words[#words + 1] = status.trust and 'TRUST' or nil
  vim.list_extend(words, status.unasked or {})
  return require('eca.ui.sanitize').statusline(table.concat(words, ' '))
end

--- The whole chat as Markdown, closed blocks included. Without a callback it waits for the host, at
--- most 5 s, and returns the text, or nil on timeout.
---@param chat? string
---@param callback? fun(markdown: string)
---@return string?
function M.transcript(chat, callback)
  local answer ---@type string?
  require('eca.host').ask(
    'transcript',
    { chat = chat or M.current() },
    callback or function(markdown)
      answer = markdown
    end
  )
  if not callback then
    vim.wait(TRANSCRIPT_TIMEOUT, function()
      return answer ~= nil
    end, 10)
  end
  return answer
end

return M
