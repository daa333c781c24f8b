--- Undoing turns: a float shows what happens to each file, and asks.
---
--- Rules kept here:
--- - A file that was changed since by something else stays as it is, unless the user decides
---   otherwise.
--- - Turns whose files were not kept can be undone by the server only, and without this care: only
---   if the user decides so.
--- - Nothing is done before `u`; leaving the float does nothing.
--- - The float opens only if the user has pressed no key since the request.
local diff = require('eca.diff')
local disk_check = require('eca.editor.checktime')
local display_width = require('eca.ui.display_width')
local host = require('eca.host')
local notify = require('eca.ui.notify')
local panel = require('eca.ui.panel')
local paths = require('eca.files.paths')
local return_window = require('eca.ui.return_window')

local M = {}

--- Cells of a name at most.
local MOST_NAME = 40
--- More files take a while, as each is safe on the disk before the next one.
local MANY = 50

---@param row eca.UndoRow
---@return string
local function name_of(row)
  return row.path and paths.short(row.path) or row.name
end

--- The rows of the float.
---@param plan eca.UndoPlan
---@return eca.Segment[][]
local function rows_of(plan)
  local width, signs = 0, false
  for _, row in ipairs(plan.rows) do
    width = math.min(MOST_NAME, math.max(width, vim.api.nvim_strwidth(name_of(row))))
    signs = signs or row.kept ~= nil -- a sign stands before rows that stay as they are
  end
  local drawn = vim.tbl_map(function(row)
    local pad = row.path and display_width.pad_path or display_width.pad
    local segments = {
      { signs and (row.take and '  ' or '! ') or '', 'EcaToolWaiting' },
      { pad(name_of(row), width), 'EcaToolTarget' },
    }
    return vim.list_extend(segments, row.take and row.taken or row.kept)
  end, plan.rows)
  for _, note in ipairs(plan.notes or {}) do
    drawn[#drawn + 1] = { { note, 'EcaMuted' } }
  end
  return drawn
end

--- A file, or a turn of which no file was kept.
---@class eca.UndoRow
---@field path? string of the file
---@field name? string of the turn
---@field seen? string identifies the state of the file when the undo was planned
---@field kept? eca.Segment[] its text while it stays; nil if it is always restored
---@field taken? eca.Segment[] its text while it is restored; nil if it cannot be
---@field take boolean it is restored; where both are possible, the user decides

---@class eca.UndoPlan
---@field turns integer[] the newest first
---@field again? boolean they were undone: this does them again
---@field title string
---@field verb string what `u` does
---@field rows eca.UndoRow[]
---@field notes? string[] what is not in the rows
---@field why string the message if there is no row

---@class eca.Rollback
---@field block integer of the prompt, or one that belongs to it
---@field messages boolean the messages are removed, too
---@field steps? eca.EditSteps another prompt takes their place

---@class eca.Undo
---@field chat string
---@field plan eca.UndoPlan
---@field rollback? eca.Rollback
---@field panel eca.PanelHandle

---@class eca.UndoFailure
---@field path string
---@field fault string why it was not changed
---@field copy? string path of a file with the old content; only if the file is damaged

---@class eca.UndoResult
---@field done string[] paths
---@field failed eca.UndoFailure[]
---@field told? string the message about what was done

--- Called when turns were undone in some files (absolute paths), or redone.
---@alias eca.UndoListener fun(chat: string, plan: eca.UndoPlan, files: string[])

local undone = function() end ---@type eca.UndoListener

---@param listener eca.UndoListener
function M.on_undone(listener)
  undone = listener
end

--- Can the user decide about a row?
---@param row eca.UndoRow
---@return boolean
local function is_open(row)
  return row.kept ~= nil and row.taken ~= nil
end

---@param undo eca.Undo
---@param result eca.UndoResult
local function tell(undo, result)
  for _, path in ipairs(result.done) do
    local buf = paths.buffer_of(path)
    if buf and vim.bo[buf].modified then
      disk_check.take(buf)
    end
  end
  undone(undo.chat, undo.plan, result.done)
  if result.told then
    notify.info(result.told)
  end
  for _, failed in ipairs(result.failed) do
    local name = paths.short(failed.path)
    if failed.copy then
      notify.error(('%s is damaged: %s'):format(name, failed.fault))
      notify.error(('%s as it was: %s'):format(name, paths.short(failed.copy)))
    else
      notify.warn(('%s was not changed: %s'):format(name, failed.fault))
    end
  end
end

---@class eca.GoBack
---@field chat string
---@field block integer
---@field messages boolean
---@field tools boolean

---@param wanted eca.GoBack
---@param done fun(is_back: boolean)
local function roll_back_silently(wanted, done)
  host.ask('rollback', vim.tbl_extend('force', wanted, { give_back = false }), done)
end

--- Have the host roll a chat back; with `steps` another prompt takes the place of what is removed.
---@param wanted eca.GoBack
---@param steps? eca.EditSteps
function M.go_back(wanted, steps)
  if not steps then
    host.send('rollback', wanted)
  elseif steps.begins() then
    (steps.ask or roll_back_silently)(wanted, function(is_back)
      steps.done(is_back == true)
    end)
  end
end

--- Does the user want the server to undo turns whose files were not kept here?
---@param undo eca.Undo
---@return boolean
local function wants_server(undo)
  return vim.iter(undo.plan.rows):any(function(row)
    return row.take and not row.path
  end)
end

--- Have the server do its part: remove messages, and undo turns.
---@param undo eca.Undo
---@return boolean is_asked
local function ask_server(undo)
  local rollback, tools = undo.rollback, wants_server(undo)
  local wants = rollback and (rollback.messages or tools)
  if rollback and wants then
    local wanted = { chat = undo.chat, block = rollback.block }
    wanted.messages, wanted.tools = rollback.messages, tools
    M.go_back(wanted, rollback.steps)
  end
  return wants or false
end

---@param undo eca.Undo
local function confirm(undo)
  local chosen = {} ---@type [string, string][]
  for _, row in ipairs(undo.plan.rows) do
    chosen[#chosen + 1] = row.take and row.path and { row.path, row.seen } or nil
  end
  undo.panel.close()
  local steps = undo.rollback and undo.rollback.steps
  if steps and not steps.begins() then -- the edit was cancelled meanwhile
    return notify.info('nothing was undone')
  end
  if #chosen == 0 and not wants_server(undo) then
    if not ask_server(undo) then
      notify.info('nothing was undone')
    end
    return
  end
  local wanted = { chat = undo.chat, turns = undo.plan.turns, files = chosen }
  wanted.since = undo.rollback and undo.rollback.block
  if #chosen > MANY then
    notify.info(('%d files are being restored …'):format(#chosen))
  end
  host.ask('undo_turn', wanted, function(result)
    if result then
      tell(undo, result)
      ask_server(undo)
    elseif steps then
      steps.done(false)
    end
  end)
end

---@param undo eca.Undo
---@return eca.UndoRow?
local function row_here(undo)
  return undo.plan.rows[vim.api.nvim_win_get_cursor(0)[1]]
end

--- Restore a file or not. The server restores the files of all its turns, or of none.
---@param undo eca.Undo
---@param take boolean
local function choose(undo, take)
  local here = row_here(undo)
  for _, row in ipairs(undo.plan.rows) do
    if is_open(row) and here and (row == here or not (row.path or here.path)) then
      row.take = take
    end
  end
  undo.panel.write(rows_of(undo.plan))
end

--- Files about which the user decides.
---@param undo eca.Undo
---@return eca.UndoRow[]
local function open_files(undo)
  return vim.tbl_filter(function(row)
    return row.path ~= nil and is_open(row)
  end, undo.plan.rows)
end

---@param undo eca.Undo
---@return table<string, fun()>
local function actions(undo)
  return {
    u = function()
      confirm(undo)
    end,
    k = function()
      choose(undo, false)
    end,
    t = function()
      choose(undo, true)
    end,
    T = function()
      for _, row in ipairs(open_files(undo)) do
        row.take = true
      end
      undo.panel.write(rows_of(undo.plan))
    end,
    d = function()
      local row = row_here(undo)
      if row and row.path then
        undo.panel.close()
        local turns = undo.plan.turns
        diff.ask('checkpoint', { chat = undo.chat, turns = turns, path = row.path })
      end
    end,
  }
end

---@param undo eca.Undo
---@param asked eca.Asked
local function show(undo, asked)
  if not return_window.may_focus(asked, 'the undo preview') then
    return
  end
  local plan = undo.plan
  for _, row in ipairs(plan.rows) do
    row.take = row.kept == nil
  end
  local keys = { { 'u', plan.verb } }
  if vim.iter(plan.rows):any(is_open) then
    vim.list_extend(keys, { { 'k', 'keep mine' }, { 't', 'take theirs' } })
    keys[#keys + 1] = #open_files(undo) > 1 and { 'T', 'all' } or nil
  end
  undo.panel = panel.show({
    title = plan.title,
    rows = rows_of(plan),
    keys = vim.list_extend(keys, { { 'd', 'diff' }, { 'q', 'cancel' } }),
    actions = actions(undo),
  })
end

---@param wanted table<string, any> payload of `plan_undo`
---@param rollback? eca.Rollback
local function ask(wanted, rollback)
  local asked = return_window.asked()
  host.ask('plan_undo', wanted, function(plan)
    local undo = { chat = wanted.chat, plan = plan, rollback = rollback }
    if plan and #plan.rows > 0 then
      show(undo, asked)
    elseif plan and not ask_server(undo) then
      notify.info(plan.why)
    end
  end)
end

--- Ask whether to undo a turn, in all of its files or in some.
---@param chat string
---@param turn? integer default: the last one that changed something
---@param files? string[] absolute
function M.open(chat, turn, files)
  ask({ chat = chat, turn = turn, paths = files })
end

--- Ask whether to undo the files of all turns from a prompt on.
---@param chat string
---@param block integer of the prompt, or one that belongs to it
---@param messages boolean remove the messages, too
---@param steps? eca.EditSteps
function M.roll_back(chat, block, messages, steps)
  local rollback = { block = block, messages = messages, steps = steps }
  ask({ chat = chat, since = block, messages = messages }, rollback)
end

return M
