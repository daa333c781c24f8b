--- The palette: lists the subcommands of `:Eca` that are useful here and now.
---
--- Rules kept here:
--- - The most used come first; pending requests come before everything else.
--- - Every subcommand is listed here, which a test checks, and is offered if it would do something.
--- - Neovim's own list must fit the screen: its last row opens the rest.
local abilities = require('eca.state.abilities')
local actions = require('eca.keymaps.actions')
local chats = require('eca.chat.buffers')
local choose = require('eca.ui.choose')
local config = require('eca.config')
local conflicts = require('eca.editor.conflicts')
local contexts = require('eca.context')
local display_width = require('eca.ui.display_width')
local field = require('eca.input.field')
local help = require('eca.actions.help')
local history = require('eca.input.history')
local mirror = require('eca.state.mirror')
local chat_options = require('eca.actions.options')
local transcript = require('eca.transcript')
local windows = require('eca.window')

local M = {}

--- Columns and rows that Neovim's own list needs for numbers, prompt and question.
local MARGIN, OVERHEAD = 5, 4

--- What decides which subcommands are offered.
---@class eca.Situation
---@field chat? string
---@field status eca.Status
---@field busy boolean a turn is running
---@field prompted boolean the chat has a prompt
---@field shown boolean the chat is on the screen
---@field pending table<'approval'|'question', integer> number of requests in all chats

--- Has a chat a block of a kind?
---@param buf integer its transcript
---@param kind string
---@return boolean
local function has_block(buf, kind)
  local rows = vim.api.nvim_buf_line_count(buf)
  return transcript.find(buf, rows, kind, -1) ~= nil
end

---@return eca.Situation
local function look()
  local id = windows.current_chat()
  local chat, status = id and chats.get(id), mirror.status(id)
  local pending = { approval = 0, question = 0 }
  for _, item in ipairs(mirror.pending()) do
    pending[item.kind] = pending[item.kind] + 1
  end
  return {
    chat = id,
    status = status,
    busy = status.state ~= 'idle',
    prompted = chat ~= nil and has_block(chat.buf, 'user'),
    shown = windows.chat_shown() ~= nil,
    pending = pending,
  }
end

---@alias eca.Applies fun(now: eca.Situation): boolean

---@type table<string, eca.Applies>
local IF = {
  always = function()
    return true
  end,
  approval = function(now)
    return now.pending.approval > 0
  end,
  approvals = function(now)
    return now.pending.approval > 1
  end,
  choices = function()
    return vim.iter(mirror.pending()):any(function(item)
      return item.listed
    end)
  end,
  question = function(now)
    return now.pending.question > 0
  end,
  request = function(now)
    return now.pending.approval + now.pending.question > 0
  end,
  busy = function(now)
    return now.busy
  end,
  drafted = function(now)
    local chat = now.busy and chats.get(now.chat)
    return chat and field.draft(chat.input):find('%S') ~= nil or false
  end,
  queued = function(now)
    return now.chat ~= nil and #mirror.queue(now.chat) > 0
  end,
  chat = function(now)
    return now.chat ~= nil
  end,
  chats = function()
    return #chats.ids() > 1
  end,
  options = function(now)
    return now.chat ~= nil and #chat_options.others(now.chat) > 0
  end,
  prompted = function(now)
    return now.prompted
  end,
  older = function(now)
    return now.chat ~= nil and has_block(chats.get(now.chat).buf, 'older')
  end,
  settled = function(now)
    return now.prompted and not now.busy
  end,
  code = function()
    local ours = vim.startswith(vim.bo.filetype, 'eca-')
    return not ours or contexts.cursor() ~= nil
  end,
  contexts = function(now)
    return now.chat ~= nil and #contexts.list(now.chat) > 0
  end,
  prompts = function()
    return #history.newest_first() > 0
  end,
  plan = function(now)
    return now.chat ~= nil and mirror.plan(now.chat) ~= nil
  end,
  used = function(now)
    return now.chat ~= nil and next(mirror.usage(now.chat)) ~= nil
  end,
  conflicts = function()
    return #conflicts.list() > 0
  end,
  shown = function(now)
    return now.shown
  end,
  hidden = function(now)
    return now.chat ~= nil and not now.shown
  end,
  servers = function()
    return next(config.get().servers) ~= nil
  end,
  failed = function(now)
    return now.status.server == 'failed'
  end,
  started = function(now)
    return now.status.server == 'ready' or now.status.server == 'starting'
  end,
}

---@param what eca.Choosable
---@return eca.Applies
local function several(what)
  return function(now)
    return now.chat ~= nil and #chat_options.offers(what, now.chat) > 1
  end
end

---@param condition eca.Applies
---@return eca.Applies
local function unless(condition)
  return function(now)
    return not condition(now)
  end
end

---@class eca.PaletteRow
---@field name string of the subcommand
---@field applies eca.Applies
---@field action? string the action that does the same, which may have a key
---@field needs? eca.Ability what the server must be able to do, if not that of the action
---@field typed? boolean the user has to type its argument

---@type eca.PaletteRow[]
M.rows = {
  { name = 'approval', applies = IF.request, action = 'Approval' },
  { name = 'approve', applies = IF.approval, action = 'Approve' },
  { name = 'reject', applies = IF.approval, action = 'Reject' },
  { name = 'choose', applies = IF.choices, action = 'Choose' },
  { name = 'approve-all', applies = IF.approvals, action = 'ApproveAll' },
  { name = 'diff', applies = IF.approval, action = 'Diff' },
  { name = 'answer', applies = IF.question, action = 'Answer' },
  { name = 'stop', applies = IF.busy, action = 'Stop' },
  { name = 'steer', applies = IF.drafted, action = 'Submit', needs = 'steer' },
  { name = 'queue', applies = IF.drafted, action = 'Queue' },
  { name = 'unqueue', applies = IF.queued, action = 'Unqueue' },
  { name = 'conflicts', applies = IF.conflicts, action = 'Conflicts' },
  { name = 'toggle', applies = IF.hidden, action = 'Toggle' },
  { name = 'add', applies = IF.code, action = 'AddContext' },
  { name = 'contexts', applies = IF.contexts, action = 'Contexts' },
  { name = 'changes', applies = IF.prompted, action = 'Changes' },
  { name = 'undo-turn', applies = IF.prompted, action = 'UndoTurn' },
  { name = 'new', applies = IF.always, action = 'New' },
  { name = 'chats', applies = IF.chats, action = 'Chats' },
  { name = 'resume', applies = IF.always, action = 'Resume' },
  { name = 'model', applies = several('model'), action = 'Model' },
  { name = 'agent', applies = several('agent'), action = 'Agent' },
  { name = 'variant', applies = several('variant'), action = 'Variant' },
  { name = 'options', applies = IF.options, action = 'Options' },
  { name = 'trust', applies = IF.chat, action = 'Trust' },
  { name = 'tasks', applies = IF.plan, action = 'Tasks' },
  { name = 'older', applies = IF.older, action = 'Older' },
  { name = 'history', applies = IF.prompted, action = 'History' },
  { name = 'prompts', applies = IF.prompts, action = 'Prompts' },
  { name = 'template', applies = IF.always },
  { name = 'grep', applies = IF.prompted, typed = true },
  { name = 'rollback', applies = IF.settled, action = 'Rollback' },
  { name = 'fork', applies = IF.settled, action = 'Fork' },
  { name = 'files', applies = IF.prompted, action = 'Files' },
  { name = 'usage', applies = IF.used, action = 'Usage' },
  { name = 'paste', applies = IF.shown, action = 'Paste' },
  { name = 'hide', applies = IF.shown, action = 'Hide' },
  { name = 'flag', applies = IF.prompted, action = 'Flag' },
  { name = 'export', applies = IF.prompted },
  { name = 'rename', applies = IF.prompted, action = 'Rename' },
  { name = 'clear', applies = IF.settled, action = 'Clear' },
  { name = 'delete', applies = IF.chat, action = 'Delete' },
  { name = 'install', applies = IF.failed },
  { name = 'server', applies = IF.servers },
  { name = 'folder', applies = IF.started, typed = true },
  { name = 'start', applies = unless(IF.started) },
  { name = 'restart', applies = IF.started },
  { name = 'quit', applies = IF.started },
  { name = 'login', applies = IF.chat, needs = 'login' },
  { name = 'logout', applies = IF.chat, needs = 'logout' },
  { name = 'demo', applies = IF.always },
  { name = 'log', applies = IF.always },
  { name = 'health', applies = IF.always },
  { name = 'help', applies = IF.always },
}

local MORE = { name = '', applies = IF.always } ---@type eca.PaletteRow

--- The shortest key of a row's action, in the current buffer.
---@param row eca.PaletteRow
---@return string
local function key_of(row)
  local keys = row.action and help.of(row.action) or {}
  table.sort(keys, function(left, right)
    return #left < #right
  end)
  return keys[1] or ''
end

---@param rows eca.PaletteRow[]
---@param subcommands table<string, eca.Subcommand>
---@return table<eca.PaletteRow, string> the line of each
local function lines_of(rows, subcommands)
  local lines, keys, width = { [MORE] = 'more …' }, {}, 0
  for _, row in ipairs(rows) do
    keys[row] = key_of(row)
    width = math.max(width, vim.api.nvim_strwidth(keys[row]))
  end
  for _, row in ipairs(rows) do
    local text = subcommands[row.name].text
    local line = (':Eca %-11s  %s  %s'):format(row.name, display_width.pad(keys[row], width), text)
    lines[row] = display_width.cut(line, vim.o.columns - MARGIN)
  end
  return lines
end

---@param row eca.PaletteRow
local function run(row)
  if row.typed then
    vim.api.nvim_feedkeys((':Eca %s '):format(row.name), 'n', false)
  else
    vim.cmd.Eca(row.name)
  end
end

--- Show as many rows as there is room for.
---@param rows eca.PaletteRow[]
---@param lines table<eca.PaletteRow, string>
local function offer(rows, lines)
  local room = vim.o.lines - OVERHEAD
  local shown, rest = rows, {} ---@type eca.PaletteRow[], eca.PaletteRow[]
  if #rows > room and choose.is_builtin() then
    shown, rest = vim.list_slice(rows, 1, room - 1), vim.list_slice(rows, room)
    shown[#shown + 1] = MORE
  end
  local options = {
    prompt = 'eca',
    format_item = function(row)
      return lines[row]
    end,
  }
  choose.one(shown, options, function(row)
    if row == MORE then
      vim.schedule(function() -- clear the first list before the second is shown
        vim.cmd.redraw()
        offer(rest, lines)
      end)
    elseif row then
      run(row)
    end
  end)
end

--- Let the user choose a subcommand, and run it.
---@param subcommands table<string, eca.Subcommand> of `:Eca`, by name
function M.choose(subcommands)
  local now = look()
  local rows = vim.tbl_filter(function(row)
    local needs = row.needs or row.action and actions[row.action].needs
    return row.applies(now) and abilities.has(now.chat, needs)
  end, M.rows)
  offer(rows, lines_of(rows, subcommands))
end

return M
