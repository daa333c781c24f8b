--- The view ops: everything that the host can have the view draw, and the function for each.
---
--- Rules kept here:
--- - `fields.lua` lists the ops with their fields as the host does.
--- - Ops arrive as `{ name, field, field … }`; a missing field is `vim.NIL` on the wire, and nil
---   here.
--- - What is needed once for many ops (scrolling, winbars) is done once, after they are drawn.
--- - Modules that only some ops need are loaded with the first such op.
local answer_mode = require('eca.input.answer_mode')
local attention = require('eca.chat.attention')
local chats = require('eca.chat.buffers')
local drafts = require('eca.input.drafts')
local expected = require('eca.state.expected')
local field = require('eca.input.field')
local fields = require('eca.view.fields')
local input = require('eca.input')
local mirror = require('eca.state.mirror')
local others = require('eca.ui.others')
local text_ops = require('eca.view.text_ops')
local transcript = require('eca.transcript')
local winbar = require('eca.window.winbar')
local windows = require('eca.window')

local M = {}

M.fields = fields

local stale = {} ---@type table<string, true> chats whose winbars must be redrawn
local all_stale = false
local settling = false
local pending_changed = false

---@param event string
---@param data any
local function emit(event, data)
  local options = { pattern = event, modeline = false, data = data }
  others.call('User ' .. event, vim.api.nvim_exec_autocmds, 'User', options)
end

--- Show the pending requests.
local function show_pending()
  pending_changed = false
  require('eca.approval').update(mirror.pending()) -- late: at first nothing is pending
  answer_mode.update(mirror.pending())
end

--- Finish drawing: scroll windows, draw winbars, make transcripts read-only again, and show pending
--- requests. It is scheduled after each op; calling it more often does no harm.
function M.settle()
  settling = false
  text_ops.settle(stale)
  if pending_changed then
    show_pending()
  end
  if next(mirror.pending()) then
    require('eca.approval.float').make_way()
  end
  if all_stale then
    winbar.refresh()
  end
  for id in pairs(stale) do
    winbar.refresh(id)
  end
  stale, all_stale = {}, false
  local used_files = package.loaded['eca.state.used_files']
  if used_files then
    used_files.announce(function(data)
      emit('EcaFilesUsed', data)
    end)
  end
end

local function settle_soon()
  if not settling then
    settling = true
    vim.schedule(M.settle)
  end
end

text_ops.listen(settle_soon)

---@param id? string nil: every chat
local function draw_winbars(id)
  if id then
    stale[id] = true
  else
    all_stale = true
  end
  settle_soon()
end

--- The event of a server's new state, and the state that it reports.
---@type table<eca.ProcessState, [string, eca.ServerState]>
local SERVER_EVENTS = {
  ready = { 'EcaServerReady', 'ready' },
  stopped = { 'EcaServerExited', 'stopped' },
  failed = { 'EcaServerExited', 'failed' },
  asleep = { 'EcaServerExited', 'stopped' },
}

---@type table<string, fun(...: any)>
local draw = {}

draw.header, draw.append, draw.body = text_ops.header, text_ops.append, text_ops.body
draw.close, draw.remove = text_ops.close, text_ops.remove

function draw.clear(chat)
  text_ops.clear(chat)
  draw_winbars(chat)
end

--- Announce a changed status. Elapsed time alone is not a change.
---@param chat? string
---@param before eca.Status
local function announce_status(chat, before)
  expected.publish()
  local now = mirror.status(chat)
  before.elapsed, before.starting, before.silent = now.elapsed, now.starting, now.silent
  if not vim.deep_equal(before, now) then
    emit('EcaStatusChanged', { chat = chat, status = now })
  end
end

function draw.status(chat, status)
  local before = mirror.status(chat)
  mirror.set_status(chat, mirror.clean(status))
  announce_status(chat, vim.deepcopy(before))
  local changed = attention.record(chat, before.state, status.state)
  local retitled = before.title ~= mirror.status(chat).title
  if retitled then
    chats.retitle(chat)
  end
  if changed or retitled then
    draw_winbars() -- the winbars of other chats show it, too
  else
    draw_winbars(chat)
  end
end

function draw.pending(items)
  mirror.set_pending(items)
  pending_changed = true
  settle_soon()
end

function draw.queue(chat, prompts)
  mirror.set_queue(chat, prompts)
  input.show_queue(chats.ensure(chat).input, prompts)
  draw_winbars(chat)
end

function draw.templates(all)
  require('eca.state.templates').set(mirror.clean(all)) -- late: only templates need it
end

function draw.plan(chat, plan)
  mirror.set_plan(chat, mirror.clean(plan))
  draw_winbars(chat)
end

function draw.usage(chat, rows)
  mirror.set_usage(chat, rows)
end

function draw.work(titles, server, jobs)
  mirror.set_work(titles, server, jobs)
  draw_winbars()
end

function draw.options(chat, options)
  mirror.set_options(chat, options)
end

function draw.server(state, label, server)
  server = server or mirror.server_name()
  local current = windows.current_chat()
  local before, status = mirror.server(server).state, mirror.status(current)
  mirror.set_server(state, label or '', server)
  announce_status(current, status)
  if before ~= state and SERVER_EVENTS[state] then
    local event, reported = unpack(SERVER_EVENTS[state])
    emit(event, { state = reported, label = label or '', server_name = server })
    local completion = package.loaded['eca.completion'] -- late: not before something is typed
    if completion and state ~= 'asleep' then -- a menu would wake it up again
      completion.server_changed()
    end
  end
  draw_winbars()
end

function draw.input(chat, text)
  field.put_back(chats.ensure(chat).input, text)
end

function draw.draft(chat, text, adopted)
  drafts.restore(chats.ensure(chat), text, adopted)
end

function draw.prompts(prompts)
  require('eca.input.history').set(prompts)
end

function draw.output(chat, block, title, lines, marks, language, row)
  local output = { chat = chat, block = block, title = title, lines = lines }
  output.marks, output.language, output.row = marks, language, row
  require('eca.chat.output').show(output)
end

function draw.show(chat)
  require('eca.chat.open').show(chat)
end

function draw.forget(chat)
  require('eca.chat.open').forget(chat)
  stale[chat] = nil
  draw_winbars()
end

function draw.diff(chat, id, path, before, after, kind, request, fault, remark, file)
  require('eca.diff').arrived({
    chat = chat,
    id = id,
    path = path,
    before = before,
    after = after,
    kind = kind,
    request = request and vim.tbl_extend('error', { chat = chat }, request),
    fault = fault,
    remark = remark,
    file = file,
  }, require('eca.approval.diff_keys'))
end

function draw.notify(level, text)
  require('eca.ui.notify').show(level, text)
end

function draw.unwritable(path, fault, text)
  local unwritable = require('eca.host.unwritable')
  if fault == '' then
    unwritable.forget()
  else
    unwritable.tell(path, fault, text)
  end
end

function draw.emit(event, data)
  emit(event, mirror.clean(data))
end

function draw.files(chat, paths, moved)
  require('eca.editor.checktime').files(paths, moved)
  if moved then
    require('eca.editor.follow_agent').moved(chat, moved[1], moved[2])
  end
end

function draw.used(chat, turn, files, dropped)
  require('eca.state.used_files').set(chat, turn, files, dropped) -- late: not before a turn
  settle_soon()
end

function draw.place(chat, path, places, done)
  require('eca.editor.follow_agent').show(chat, path, places, done)
end

function draw.external(target)
  require('eca.ui.external').open(target)
end

function draw.completions(chat, trigger, query, items, final)
  require('eca.completion').received(chat, trigger, query, mirror.clean(items), final)
end

function draw.run_login(number, title, command, environment, folder)
  local login = { number = number, title = title, command = command }
  login.environment, login.folder = environment, folder
  require('eca.panels.login_terminal').run(login)
end

function draw.end_login(number)
  require('eca.panels.login_terminal').finish(number)
end

function draw.answer(request, value)
  require('eca.host.requests').answered(request, mirror.clean(value))
end

--- Ops that are skipped for a chat whose text is lost.
local TEXT_OPS = { append = true, body = true, close = true, header = true, open = true }
TEXT_OPS.remove = true

local BLOCK, AFTER = 3, 7 -- the places of two fields in the op `open`

--- Does an op add a block after the one that the op before it adds?
---@param op? any[]
---@param before any[]
---@return boolean
local function continues(op, before)
  if not op or op[1] ~= 'open' or op[2] ~= before[2] then
    return false
  end
  local after = op[AFTER]
  if before[AFTER] == nil or before[AFTER] == vim.NIL then
    return after == nil or after == vim.NIL
  end
  return after == before[BLOCK]
end

--- How many ops, from a place in a list on, are drawn by one edit: consecutive blocks of a chat.
---@param ops any[][]
---@param first integer
---@return integer
function M.count_together(ops, first)
  local next = first + 1
  while ops[first][1] == 'open' and continues(ops[next], ops[next - 1]) do
    next = next + 1
  end
  return next - first
end

--- An op that adds a block, with its fields by name.
---@param op any[]
---@return eca.Opening
local function opening_of(op)
  local opening = {}
  for index, name in ipairs(M.fields.open) do
    local value = op[index + 1]
    if value ~= vim.NIL then
      opening[name] = value
    end
  end
  return opening
end

--- Add the blocks of some ops to their chat.
---@param ops any[][]
---@param first integer
---@param count integer
local function open(ops, first, count)
  local openings = {} ---@type eca.Opening[]
  for index = 1, count do
    openings[index] = opening_of(ops[first + index - 1])
  end
  text_ops.open(openings[1].chat, openings)
end

---@param op any[]
local function run(op)
  local change = draw[op[1]] or error(('unknown view op %s'):format(vim.inspect(op[1])))
  local values, count = {}, #M.fields[op[1]]
  for index = 1, count do
    local value = op[index + 1]
    if value ~= vim.NIL then
      values[index] = value
    end
  end
  change(unpack(values, 1, count))
end

--- Draw one op. Raises Neovim's error if the text is locked (such as E565); nothing is changed
--- then, and the same op can be drawn again.
---@param op any[] name, then the fields in the order of `fields`
function M.draw(op)
  if TEXT_OPS[op[1]] and transcript.is_lost(chats.ensure(op[2]).buf) then
    return
  elseif op[1] == 'open' then
    open({ op }, 1, 1)
  else
    run(op)
  end
end

--- Draw several ops of a list by one edit. Raises errors like `draw`.
---@param ops any[][]
---@param first integer
---@param count integer by `count_together`
function M.draw_together(ops, first, count)
  if count == 1 then
    M.draw(ops[first])
  elseif not transcript.is_lost(chats.ensure(ops[first][2]).buf) then
    open(ops, first, count)
  end
end

return M
