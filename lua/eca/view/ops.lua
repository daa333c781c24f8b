--- The view ops: everything that the host can have the view draw, and the function for each.
---
--- Rules kept here:
--- - An op is a table: its name (`op`), and its fields as `eca_nvim/chat/vocabulary/ops.py` names
---   and explains them. A field without a value is absent, and one with a default that is empty.
--- - What is needed once for many ops (scrolling, winbars) is done once, by `settle`. A transcript
---   is modifiable from its first op until then.
--- - Nothing is drawn in a transcript that has lost its text, before the host clears it.
--- - Modules that only some ops need are loaded with the first such op.
local answer_mode = require('eca.input.answer_mode')
local chats = require('eca.chat.buffers')
local drafts = require('eca.input.drafts')
local expected = require('eca.chat.expected')
local field = require('eca.input.field')
local follow_end = require('eca.window.follow_end')
local held_intents = require('eca.host.held_intents')
local input = require('eca.input')
local mirror = require('eca.state.mirror')
local others = require('eca.ui.others')
local transcript = require('eca.transcript')
local winbar = require('eca.window.winbar')
local windows = require('eca.window')

local M = {}

---@alias eca.Op table<string, any> see above

local stale = {} ---@type table<string, 'all'|'times'> what of chats' winbars must be redrawn
local all_stale = false
local edited = {} ---@type table<string, integer> transcripts unlocked since `settle`, by chat
local pending_changed, files_changed = false, false
local was_asked = false -- a question

local emit = others.emit

---@param pending eca.Pending[]
local function show_requests(pending)
  if pending_changed then
    require('eca.approval').update(pending) -- late: at first nothing is pending
    local is_asked = vim.iter(pending):any(function(item)
      return item.kind == 'question'
    end)
    if is_asked or was_asked then
      answer_mode.update(pending)
    end
    pending_changed, was_asked = false, is_asked
  end
  if next(pending) then
    require('eca.approval.float').make_way()
  end
end

--- Finish drawing: make transcripts read-only again, scroll windows, draw winbars, and show pending
--- requests. Raises as `draw`; what was not finished then is with the next call.
function M.settle()
  for chat, buf in pairs(edited) do
    edited[chat] = nil
    if vim.api.nvim_buf_is_loaded(buf) then
      vim.bo[buf].modifiable = false
      if follow_end.after(buf) then
        stale[chat] = stale[chat] or 'times'
      end
    end
  end
  if all_stale then
    winbar.refresh()
  else
    for id, what in pairs(stale) do
      winbar.refresh(id, what == 'times')
    end
  end
  stale, all_stale = {}, false
  if files_changed then
    files_changed = false
    for _, data in ipairs(require('eca.state.used_files').take_changed()) do
      emit('EcaFilesUsed', data)
    end
  end
  show_requests(mirror.pending()) -- last: Neovim may forbid that now
end

--- The functions for all ops but those that change the text of a chat.
---@type table<string, fun(op: eca.Op)>
local draw = {}
M.functions = draw

--- Announce a changed status. Times alone are not a change: they come every second.
---@param chat? string
---@param before eca.Status
---@return boolean changed
local function announce_status(chat, before)
  expected.publish()
  local now = mirror.status(chat)
  before.elapsed, before.starting, before.silent = now.elapsed, now.starting, now.silent
  if vim.deep_equal(before, now) then
    return false
  end
  emit('EcaStatusChanged', { chat = chat, status = now })
  return true
end

function draw.status(op)
  local chat, before = op.chat, mirror.status(op.chat)
  local was_silent = before.silent ~= nil
  mirror.set(chat, 'status', op.status)
  if not announce_status(chat, before) and was_silent == (op.status.silent ~= nil) then
    stale[chat] = stale[chat] or 'times'
    return
  end
  stale[chat] = 'all'
  if before.title ~= op.status.title then
    chats.retitle(chat)
    all_stale = true -- the winbars of other chats show it, too
  end
  if before.state ~= op.status.state then
    chats.state_changed(chat, op.status.state == 'idle')
    all_stale = true
    if op.status.state == 'idle' and op.status.trust then
      require('eca.review.unreviewed').ask_soon(chat) -- late: not before a turn
    end
  end
end

function draw.pending(op)
  mirror.set_pending(op.items, op.gone)
  pending_changed = true
end

function draw.queue(op)
  mirror.set(op.chat, 'queue', op.prompts)
  input.show_queue(chats.ensure(op.chat).input, op.prompts)
  stale[op.chat] = 'all'
end

function draw.comments(op)
  local comments = mirror.clean(op.items or {})
  require('eca.review.notes').received(op.chat, comments, op.stale or false) -- late: few have any
end

function draw.templates(op)
  require('eca.state.templates').set(op.templates) -- late: only templates need it
end

function draw.plan(op)
  mirror.set(op.chat, 'plan', op.plan)
  stale[op.chat] = 'all'
end

function draw.usage(op)
  mirror.set(op.chat, 'usage', op.rows)
end

function draw.work(op)
  mirror.set_server(op.server, { work = op.titles })
  all_stale = true
end

function draw.tools(op)
  require('eca.state.tool_servers').set_tools(op.server, op.mcp, op.tools)
end

function draw.tool_server(op)
  require('eca.state.tool_servers').set(op.told)
  emit('EcaToolServerChanged', mirror.clean(op.told))
end

function draw.checkpoints(op)
  require('eca.state.checkpoints').set(op.items, op.gone or {}, op.whole) -- late: not at the start
end

function draw.providers(op)
  mirror.set_server(op.server, { providers = mirror.clean(op.providers) })
end

function draw.jobs(op)
  mirror.set_server(op.server, { jobs = mirror.clean(op.jobs) })
  emit('EcaJobsChanged', { server_name = op.server, jobs = mirror.public_jobs(op.server) })
end

function draw.options(op)
  mirror.set(op.chat, 'options', op.options)
end

function draw.server(op)
  local label, current = op.label or '', windows.current_chat()
  local before, status = mirror.server(op.server).state, mirror.status(current)
  mirror.set_server(op.server, { state = op.state, label = label })
  announce_status(current, status)
  if before ~= op.state and op.state ~= 'starting' then
    local event = op.state == 'ready' and 'EcaServerReady' or 'EcaServerExited'
    local reported = op.state == 'asleep' and 'stopped' or op.state
    emit(event, { state = reported, label = label, server_name = op.server })
    local completion = package.loaded['eca.completion'] -- late: not before something is typed
    if completion and op.state ~= 'asleep' then -- a menu would wake it up again
      completion.server_changed()
    end
  end
  all_stale = true
end

function draw.input(op)
  field.put_back(chats.ensure(op.chat).input, op.text)
end

function draw.draft(op)
  drafts.restore(chats.ensure(op.chat), op.text, op.adopted)
end

function draw.prompts(op)
  require('eca.input.history').set(op.prompts)
end

function draw.output(op)
  require('eca.chat.output').show(op)
end

function draw.show(op)
  require('eca.chat.open').show(op.chat)
end

function draw.forget(op)
  require('eca.chat.open').forget(op.chat)
  all_stale = true
end

function draw.diff(op)
  op.request = op.request and vim.tbl_extend('keep', op.request, { chat = op.chat })
  require('eca.diff').arrived(op)
end

function draw.notify(op)
  require('eca.ui.notify').show(op.level, op.text)
end

function draw.unwritable(op)
  local unwritable = require('eca.host.unwritable')
  if op.fault == '' then
    unwritable.forget()
  else
    unwritable.tell(op.path, op.fault, op.text)
  end
end

function draw.emit(op)
  emit(op.event, mirror.clean(op.data))
end

function draw.files(op)
  local moved = op.moved
  require('eca.editor.checktime').files(op.paths, moved)
  if moved then
    require('eca.editor.follow_agent').moved(op.chat, moved[1], moved[2])
  end
end

function draw.used(op)
  -- late: not before a turn
  require('eca.state.used_files').set(op.chat, op.turn, op.files, op.dropped or {})
  files_changed = true
end

function draw.place(op)
  require('eca.editor.follow_agent').show(op.chat, op.path, op.places, op.done)
end

function draw.copy_link(op)
  local has_clipboard = vim.fn.has('clipboard') == 1
  if require('eca.ui.register').yank(op.url, 'v', has_clipboard and '+' or '"') then
    local where = has_clipboard and 'copied to the clipboard' or 'yanked, p puts it'
    local line = '%s wants to open %s: %s'
    require('eca.ui.notify').warn(line:format(op.server, op.host, where))
  end
end

function draw.external(op)
  require('eca.ui.external').open(op.target)
end

function draw.completions(op)
  require('eca.completion').received(op.chat, op.trigger, op.query, op.items, op.final)
end

function draw.commit_message(op)
  require('eca.commit').received(mirror.clean(op)) -- late: not before a commit
end

function draw.preview(op)
  require('eca.preview').set(mirror.clean(op))
end
draw.place_answer = draw.preview

function draw.changed_meanwhile(op)
  require('eca.preview.written').changed(mirror.clean(op)) -- late: rare
end

function draw.panel(op)
  require('eca.panels').set(op)
end

function draw.panel_rows(op)
  require('eca.panels').set_rows(op)
end

function draw.run_login(op)
  require('eca.panels.login_terminal').run(op)
end

function draw.end_login(op)
  require('eca.panels.login_terminal').finish(op.number)
end

function draw.answer(op)
  held_intents.answered(op.request, mirror.clean(op.value))
end

--- The functions for ops that change the text of a chat.
---@type table<string, fun(buf: integer, op: eca.Op|eca.Opening[])>
M.text_functions = {
  open = transcript.open, -- called with several ops
  header = transcript.header,
  append = transcript.append,
  body = transcript.body,
  close = transcript.close,
  remove = transcript.remove,
  clear = function(buf)
    transcript.clear(buf)
    follow_end.cleared(buf)
  end,
}

--- Ops that add rows; those of older messages go above everything that is shown.
local ADD_ROWS = { open = true, append = true, body = true }

---@param op eca.Op
---@param openings? eca.Opening[] of an op `open`: it and those after it
local function draw_text(op, openings)
  local change = M.text_functions[op.op] or error('unknown view op ' .. tostring(op.op))
  local buf = edited[op.chat]
  if not (buf and vim.api.nvim_buf_is_loaded(buf)) then -- an autocommand may have deleted it
    buf = chats.ensure(op.chat).buf
    edited[op.chat] = buf
    follow_end.before(buf)
    vim.bo[buf].modifiable = true
  end
  if op.op ~= 'clear' and transcript.is_lost(buf) then
    return
  end
  local pictures = package.loaded['eca.chat.pictures'] -- late: not before one is drawn
  if pictures and (op.op == 'remove' or op.op == 'clear') then
    pictures.removed(buf, op.block)
  end
  if ADD_ROWS[op.op] and transcript.is_paging(buf, openings and op.after or op.block) then
    follow_end.above(buf, change, openings or op)
  else
    change(buf, openings or op)
  end
  for _, opening in ipairs(openings or {}) do
    if opening.kind == 'image' then
      require('eca.chat.pictures').drawn(op.chat, buf, opening.block)
    end
  end
end

--- How many ops, from a place in a list on, are drawn by one edit: consecutive blocks of a chat.
---@param ops eca.Op[]
---@param first integer
---@return integer
function M.count_together(ops, first)
  local last = first
  while ops[last].op == 'open' do
    local before, op = ops[last], ops[last + 1]
    local follows = op and op.op == 'open' and op.chat == before.chat
    if not follows or op.after ~= (before.after and before.block) then
      break
    end
    last = last + 1
  end
  return last - first + 1
end

--- Draw the next op of a list, or several by one edit. Raises Neovim's error if the text is locked
--- (such as E565); nothing is changed then, and the same op can be drawn again.
---@param ops eca.Op[]
---@param first? integer default: 1
---@return integer next place of the op after them
function M.draw(ops, first)
  first = first or 1
  local op, count = ops[first], 1
  if draw[op.op] then
    draw[op.op](op)
  elseif op.op == 'open' then
    count = M.count_together(ops, first)
    draw_text(op, vim.list_slice(ops, first, first + count - 1))
  else
    draw_text(op)
  end
  return first + count
end

return M
