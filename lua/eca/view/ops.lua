--- The view ops: all that the host can tell the view to draw, and what draws each.
---
--- Rules kept here:
--- - `fields` lists the ops as the host does, field for field; a test holds the two equal.
--- - Ops arrive as `{ name, field, field … }`; an absent field is `vim.NIL` on the wire, nil here.
--- - What is needed once for many ops (following, winbars) is done once, when they are drawn.
--- - Parts that only some ops need are loaded with the first of these.
local answer_mode = require('eca.input.answer_mode')
local attention = require('eca.chat.attention')
local chats = require('eca.chat.buffers')
local drafts = require('eca.input.drafts')
local expected = require('eca.state.expected')
local field = require('eca.input.field')
local follow = require('eca.window.follow_end')
local input = require('eca.input')
local input_mode = require('eca.state.input_mode')
local mirror = require('eca.state.mirror')
local transcript = require('eca.transcript')
local windows = require('eca.window')
local winbar = require('eca.window.winbar')

local M = {}

---@type table<string, string[]>
M.fields = {
  open = { 'chat', 'block', 'kind', 'header', 'depth', 'after', 'lost' },
  header = { 'chat', 'block', 'header', 'lost' },
  append = { 'chat', 'block', 'text' },
  body = { 'chat', 'block', 'lines', 'marks', 'language' },
  close = { 'chat', 'block' },
  remove = { 'chat', 'block' },
  clear = { 'chat' },
  status = { 'chat', 'status' },
  pending = { 'items' },
  queue = { 'chat', 'prompts' },
  plan = { 'chat', 'plan' },
  usage = { 'chat', 'usage' },
  work = { 'titles' },
  choices = { 'choices' },
  server = { 'state', 'label' },
  input = { 'chat', 'text' },
  show = { 'chat' },
  forget = { 'chat' },
  draft = { 'chat', 'text', 'adopted' },
  prompts = { 'prompts' },
  diff = { 'chat', 'id', 'path', 'before', 'after', 'kind', 'request', 'fault', 'remark' },
  output = { 'chat', 'block', 'title', 'lines', 'marks', 'language', 'row' },
  notify = { 'level', 'text' },
  emit = { 'event', 'data' },
  files = { 'chat', 'paths', 'moved' },
  place = { 'chat', 'path', 'places', 'done' },
  external = { 'target' },
  answer = { 'request', 'value' },
}

local edited = {} ---@type table<integer, string> chats of transcripts unlocked since `settle`
local stale = {} ---@type table<string, true> chats whose winbars are to be drawn
local all_stale = false
local settling = false
local asked_anew = false -- what waits for the user is different

--- Ask the user for what waits now.
local function ask()
  asked_anew = false
  require('eca.approval').update(mirror.pending()) -- late: in most chats nothing waits at first
  answer_mode.update(mirror.pending())
end

--- Finish what was drawn: windows follow, winbars are drawn, transcripts are read-only again, and
--- the user is asked for what waits.
--- It comes by itself after a batch of ops; calling it more often does no harm.
function M.settle()
  settling = false
  for buf, chat in pairs(edited) do
    edited[buf] = nil
    if vim.api.nvim_buf_is_loaded(buf) then
      transcript.lock(buf)
      stale[chat] = follow.after(buf) or stale[chat]
    end
  end
  if asked_anew then
    ask()
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
end

local function settle_soon()
  if not settling then
    settling = true
    vim.schedule(M.settle)
  end
end

--- The transcript of a chat, ready to be changed.
---@param id string
---@return integer buf
local function edit(id)
  local buf = chats.ensure(id).buf
  if not edited[buf] then
    edited[buf] = id
    follow.before(buf)
    transcript.unlock(buf)
    settle_soon()
  end
  return buf
end

---@param event string
---@param data any
local function emit(event, data)
  vim.api.nvim_exec_autocmds('User', { pattern = event, modeline = false, data = data })
end

---@param id? string nil: every chat
local function draw_winbars(id)
  if id then
    stale[id] = true
  else
    all_stale = true
  end
  settle_soon()
end

local SERVER_EVENTS = { ready = 'EcaServerReady', stopped = 'EcaServerExited' }
SERVER_EVENTS.failed = SERVER_EVENTS.stopped

---@type table<string, fun(...: any)>
local draw = {}

--- Change a transcript at a block: by what nobody has seen yet, or, while a page of older messages
--- is drawn, above all that is shown.
---@param chat string
---@param place? integer a block
---@param change fun(buf: integer, ...: any)
local function add_text(chat, place, change, ...)
  local buf = edit(chat)
  if place and transcript.is_paging(buf, place) then
    follow.above(buf, change, ...)
    return
  end
  local before = vim.api.nvim_buf_line_count(buf)
  change(buf, ...)
  follow.added(buf, vim.api.nvim_buf_line_count(buf) - before)
end

function draw.open(chat, block, kind, header, depth, after, lost)
  if kind == 'flag' and after and not transcript.is_paging(edit(chat), after) then
    transcript.open(edit(chat), block, kind, header, depth, after) -- the user has just set it
  else
    add_text(chat, after, transcript.open, block, kind, header, depth, after, lost)
  end
  if kind == 'image' then
    require('eca.chat.pictures').drawn(chat, chats.ensure(chat).buf, block)
  end
end

function draw.header(chat, block, header, lost)
  transcript.header(edit(chat), block, header, lost)
end

function draw.append(chat, block, text)
  add_text(chat, block, transcript.append, block, text)
end

--- Change a transcript in a way that may take rows out.
---@param chat string
---@param change fun(buf: integer, ...: any)
local function take_text(chat, change, ...)
  local buf = edit(chat)
  local before = vim.api.nvim_buf_line_count(buf)
  change(buf, ...)
  follow.removed(buf, math.max(0, before - vim.api.nvim_buf_line_count(buf)))
end

function draw.body(chat, block, lines, marks, language)
  if transcript.is_paging(edit(chat), block) then
    add_text(chat, block, transcript.body, block, lines, marks, language)
  else
    take_text(chat, transcript.body, block, lines, marks, language)
  end
end

function draw.close(chat, block)
  transcript.close(edit(chat), block)
end

--- Take pictures out with their text; where none was shown there is nothing to load.
---@param chat string
---@param block? integer
local function remove_pictures(chat, block)
  local pictures = package.loaded['eca.chat.pictures']
  if pictures then
    pictures.removed(chats.ensure(chat).buf, block)
  end
end

function draw.remove(chat, block)
  remove_pictures(chat, block)
  take_text(chat, transcript.remove, block)
end

function draw.clear(chat)
  local buf = edit(chat)
  remove_pictures(chat)
  transcript.clear(buf)
  follow.cleared(buf)
  draw_winbars(chat)
end

--- Tell that a status is another one; that time goes by is none.
---@param chat? string
---@param before eca.Status
local function tell_status(chat, before)
  expected.publish()
  local now = mirror.status(chat)
  before.elapsed = now.elapsed
  if not vim.deep_equal(before, now) then
    emit('EcaStatusChanged', { chat = chat, status = now })
  end
end

function draw.status(chat, status)
  local before = mirror.status(chat)
  mirror.set_status(chat, mirror.clean(status))
  local state = mirror.status(chat).state
  if state == 'login' or input_mode.is_login(chat) then -- late: most chats never log in
    require('eca.input.login').update(chat, state)
  end
  tell_status(chat, vim.deepcopy(before))
  local changed = attention.told(chat, before.state, status.state)
  local retitled = before.title ~= mirror.status(chat).title
  if retitled then
    chats.retitle(chat)
  end
  if changed or retitled then
    draw_winbars() -- the bars of the other chats tell of it, too
  else
    draw_winbars(chat)
  end
end

function draw.pending(items)
  mirror.set_pending(items)
  asked_anew = true
  settle_soon()
end

function draw.queue(chat, prompts)
  mirror.set_queue(chat, prompts)
  input.show_queue(chats.ensure(chat).input, prompts)
  draw_winbars(chat)
end

function draw.plan(chat, plan)
  mirror.set_plan(chat, mirror.clean(plan))
  draw_winbars(chat)
end

function draw.usage(chat, usage)
  mirror.set_usage(chat, mirror.clean(usage))
end

function draw.work(titles)
  mirror.set_work(titles)
  draw_winbars()
end

function draw.choices(choices)
  mirror.set_choices(mirror.clean(choices))
end

function draw.server(state, label)
  local current = windows.current_chat()
  local before, status = mirror.server().state, mirror.status(current)
  mirror.set_server(state, label or '')
  tell_status(current, status)
  if before ~= state and SERVER_EVENTS[state] then
    emit(SERVER_EVENTS[state], { state = state, label = label or '' })
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
  require('eca.chat.switching').show(chat)
end

function draw.forget(chat)
  require('eca.chat.switching').forget(chat)
  stale[chat] = nil
  draw_winbars()
end

function draw.diff(chat, id, path, before, after, kind, request, fault, remark)
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
  }, require('eca.approval.diff_keys'))
end

function draw.notify(level, text)
  require('eca.ui.notify').show(level, text)
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

function draw.place(chat, path, places, done)
  require('eca.editor.follow_agent').show(chat, path, places, done)
end

function draw.external(target)
  require('eca.ui.external').open(target)
end

function draw.answer(request, value)
  require('eca.host.requests').answered(request, mirror.clean(value))
end

local TEXT_OPS = { append = true, body = true, close = true, header = true, open = true }
TEXT_OPS.remove = true

--- Draw one op. Raises what Neovim raises when the text is locked (E565 and its kin); nothing is
--- changed then, and the same op can be drawn again.
---@param op any[] name, then the fields in the order of `fields`
function M.draw(op)
  local name = op[1]
  local run = draw[name] or error(('unknown view op %s'):format(vim.inspect(name)))
  local values, count = {}, #M.fields[name]
  for index = 1, count do
    local value = op[index + 1]
    if value ~= vim.NIL then
      values[index] = value
    end
  end
  if not TEXT_OPS[name] or not transcript.is_lost(chats.ensure(op[2]).buf) then
    run(unpack(values, 1, count))
  end
end

return M
