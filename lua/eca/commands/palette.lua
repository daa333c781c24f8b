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
local places = require('eca.context.places')
local chat_options = require('eca.actions.options')
local transcript = require('eca.transcript')
local windows = require('eca.window')

local M = {}

--- Columns and rows that Neovim's own list needs for numbers, prompt and question.
local MARGIN, OVERHEAD = 5, 4

--- Has a chat a block of a kind?
---@param chat? eca.Chat
---@param kind string
---@return boolean
local function has_block(chat, kind)
  local rows = chat and vim.api.nvim_buf_line_count(chat.buf)
  return chat ~= nil and transcript.find(chat.buf, rows, kind, -1) ~= nil
end

--- What holds here and now. Each subcommand is offered on one of these.
---@param id? string the current chat
---@return table<string, boolean>
local function look(id)
  local chat, status = id and chats.get(id), mirror.status(id)
  local pending, is_listed = { approval = 0, question = 0 }, false
  for _, item in ipairs(mirror.pending()) do
    pending[item.kind] = pending[item.kind] + 1
    is_listed = is_listed or item.listed == true
  end
  local function several(what)
    return chat ~= nil and #chat_options.offers(what, id) > 1
  end
  local busy, prompted = status.state ~= 'idle', has_block(chat, 'user')
  local started = status.server == 'ready' or status.server == 'starting'
  local is_shown = windows.chat_shown() ~= nil
  return {
    always = true,
    approval = pending.approval > 0,
    approvals = pending.approval > 1,
    choices = is_listed,
    question = pending.question > 0,
    request = pending.approval + pending.question > 0,
    busy = busy,
    drafted = busy and chat ~= nil and field.draft(chat.input):find('%S') ~= nil,
    queued = chat ~= nil and #mirror.chat(id).queue > 0,
    chat = chat ~= nil,
    chats = #chats.ids() > 1,
    models = several('model'),
    agents = several('agent'),
    variants = several('variant'),
    options = chat ~= nil and #chat_options.others(id) > 0,
    prompted = prompted,
    older = has_block(chat, 'older'),
    settled = prompted and not busy,
    code = not vim.startswith(vim.bo.filetype, 'eca-') or places.cursor() ~= nil,
    contexts = chat ~= nil and #contexts.sources(id) > 0,
    prompts = #history.newest_first() > 0,
    plan = chat ~= nil and mirror.chat(id).plan ~= nil,
    used = chat ~= nil and next(mirror.chat(id).usage) ~= nil,
    conflicts = #conflicts.list() > 0,
    shown = is_shown,
    hidden = chat ~= nil and not is_shown,
    servers = next(config.get().servers) ~= nil,
    failed = status.server == 'failed',
    started = started,
    stopped = not started,
  }
end

---@class eca.PaletteRow
---@field name string of the subcommand
---@field on string what must hold, see `look`
---@field needs? eca.Ability what the server must be able to do, if not that of the subcommand
---@field typed? boolean the user has to type its argument

---@type eca.PaletteRow[]
M.rows = {
  { name = 'approval', on = 'request' },
  { name = 'approve', on = 'approval' },
  { name = 'reject', on = 'approval' },
  { name = 'choose', on = 'choices' },
  { name = 'approve-all', on = 'approvals' },
  { name = 'diff', on = 'approval' },
  { name = 'answer', on = 'question' },
  { name = 'stop', on = 'busy' },
  { name = 'steer', on = 'drafted', needs = 'steer' },
  { name = 'queue', on = 'drafted' },
  { name = 'unqueue', on = 'queued' },
  { name = 'conflicts', on = 'conflicts' },
  { name = 'toggle', on = 'hidden' },
  { name = 'add', on = 'code' },
  { name = 'contexts', on = 'contexts' },
  { name = 'changes', on = 'prompted' },
  { name = 'undo-turn', on = 'prompted' },
  { name = 'new', on = 'always' },
  { name = 'chats', on = 'chats' },
  { name = 'resume', on = 'always' },
  { name = 'model', on = 'models' },
  { name = 'agent', on = 'agents' },
  { name = 'variant', on = 'variants' },
  { name = 'options', on = 'options' },
  { name = 'trust', on = 'chat' },
  { name = 'tasks', on = 'plan' },
  { name = 'older', on = 'older' },
  { name = 'history', on = 'prompted' },
  { name = 'prompts', on = 'prompts' },
  { name = 'template', on = 'always' },
  { name = 'grep', on = 'prompted', typed = true },
  { name = 'rollback', on = 'settled' },
  { name = 'fork', on = 'settled' },
  { name = 'files', on = 'prompted' },
  { name = 'usage', on = 'used' },
  { name = 'paste', on = 'shown' },
  { name = 'hide', on = 'shown' },
  { name = 'flag', on = 'prompted' },
  { name = 'export', on = 'prompted' },
  { name = 'rename', on = 'prompted' },
  { name = 'clear', on = 'settled' },
  { name = 'delete', on = 'chat' },
  { name = 'install', on = 'failed' },
  { name = 'server', on = 'servers' },
  { name = 'folder', on = 'started', typed = true },
  { name = 'start', on = 'stopped' },
  { name = 'restart', on = 'started' },
  { name = 'quit', on = 'started' },
  { name = 'login', on = 'chat' },
  { name = 'logout', on = 'chat' },
  { name = 'demo', on = 'always' },
  { name = 'log', on = 'always' },
  { name = 'health', on = 'always' },
  { name = 'help', on = 'always' },
}

local MORE = { name = '', on = 'always' } ---@type eca.PaletteRow

---@param rows eca.PaletteRow[]
---@param subcommands table<string, eca.Subcommand>
---@return table<eca.PaletteRow, string> the line of each
local function lines_of(rows, subcommands)
  local lines, keys, width = { [MORE] = 'more …' }, {}, 0
  for _, row in ipairs(rows) do
    local action = subcommands[row.name].action or subcommands[row.name].key
    local own = action and help.of(action) or {}
    table.sort(own, function(left, right) -- the shortest first
      return #left < #right
    end)
    keys[row] = own[1] or ''
    width = math.max(width, vim.api.nvim_strwidth(keys[row]))
  end
  for _, row in ipairs(rows) do
    local found = subcommands[row.name]
    local text = found.text or actions[found.action].text
    local line = (':Eca %-11s  %s  %s'):format(row.name, display_width.pad(keys[row], width), text)
    lines[row] = display_width.cut(line, vim.o.columns - MARGIN)
  end
  return lines
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
  choose.one('eca', shown, function(row)
    return lines[row]
  end, function(row)
    if row == MORE then
      vim.schedule(function() -- clear the first list before the second is shown
        vim.cmd.redraw()
        offer(rest, lines)
      end)
    elseif row.typed then
      vim.api.nvim_feedkeys((':Eca %s '):format(row.name), 'n', false)
    else
      vim.cmd.Eca(row.name)
    end
  end)
end

--- Let the user choose a subcommand, and run it.
---@param subcommands table<string, eca.Subcommand> of `:Eca`, by name
---@param needs_of fun(subcommand: eca.Subcommand): eca.Ability?
function M.choose(subcommands, needs_of)
  local chat = windows.current_chat()
  local now = look(chat)
  local rows = vim.tbl_filter(function(row)
    return now[row.on] and abilities.has(chat, row.needs or needs_of(subcommands[row.name]))
  end, M.rows)
  offer(rows, lines_of(rows, subcommands))
end

return M
