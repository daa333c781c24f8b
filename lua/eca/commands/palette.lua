--- The palette: lists the subcommands of `:Eca` that are useful here and now.
---
--- Rules kept here:
--- - A subcommand is offered if it would do something.
--- - Neovim's own list must fit the screen: its last row opens the rest.
local abilities = require('eca.state.abilities')
local actions = require('eca.keymaps.actions')
local chats = require('eca.chat.buffers')
local choose = require('eca.ui.choose')
local disk_check = require('eca.editor.checktime')
local contexts = require('eca.context')
local display_width = require('eca.ui.display_width')
local field = require('eca.input.field')
local help = require('eca.actions.help')
local history = require('eca.input.history')
local mirror = require('eca.state.mirror')
local places = require('eca.context.places')
local servers = require('eca.state.servers')
local subcommands = require('eca.commands.subcommands')
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
function M.look(id)
  local chat, status = id and chats.restored(id), mirror.status(id)
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
  local drafted = busy and chat ~= nil and field.draft(chat.input):find('%S') ~= nil
  return {
    always = true,
    approval = pending.approval > 0,
    approvals = pending.approval > 1,
    choices = is_listed,
    question = pending.question > 0,
    request = pending.approval + pending.question > 0,
    busy = busy,
    drafted = drafted,
    steerable = drafted and abilities.has(id, 'steer'),
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
    conflicts = #disk_check.conflicts() > 0,
    shown = is_shown,
    hidden = chat ~= nil and not is_shown,
    installed = #servers.installed() > 0,
    failed = status.server == 'failed',
    started = started,
    stopped = not started,
  }
end

local MORE = { name = '', on = 'always' } ---@type eca.Subcommand

---@param rows eca.Subcommand[]
---@return table<eca.Subcommand, string> the line of each
local function lines_of(rows)
  local lines, keys, width = { [MORE] = 'more …' }, {}, 0
  for _, row in ipairs(rows) do
    local action = row.action or row.key
    local own = action and help.of(action) or {}
    table.sort(own, function(left, right) -- the shortest first
      return #left < #right
    end)
    keys[row] = own[1] or ''
    width = math.max(width, vim.api.nvim_strwidth(keys[row]))
  end
  for _, row in ipairs(rows) do
    local text = row.text or actions[row.action].text
    local line = (':Eca %-11s  %s  %s'):format(row.name, display_width.pad(keys[row], width), text)
    lines[row] = display_width.cut(line, vim.o.columns - MARGIN)
  end
  return lines
end

--- Show as many rows as there is room for.
---@param rows eca.Subcommand[]
---@param lines table<eca.Subcommand, string>
local function offer(rows, lines)
  local room = vim.o.lines - OVERHEAD
  local shown, rest = rows, {} ---@type eca.Subcommand[], eca.Subcommand[]
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
function M.choose()
  local chat = windows.current_chat()
  local now = M.look(chat)
  local rows = vim.tbl_filter(function(row)
    return now[row.on] and abilities.has(chat, subcommands.needs(row))
  end, subcommands.list)
  offer(rows, lines_of(rows))
end

return M
