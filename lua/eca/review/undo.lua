--- Undoing turns: a float tells what would become of each file, and asks.
---
--- Rules kept here:
--- - A file that somebody else has changed since stays as it is, unless the user says otherwise.
--- - Of turns whose files nobody here has kept the server can do that, without such care: only when
---   the user says so.
--- - Nothing is done before `u`; leaving the float does nothing.
--- - It comes up only before a user who has pressed no key since he asked.
local conflicts = require('eca.editor.conflicts')
local diff = require('eca.diff')
local host = require('eca.host')
local notify = require('eca.ui.notify')
local panel = require('eca.ui.panel')
local paths = require('eca.files.paths')
local requests = require('eca.host.requests')
local return_window = require('eca.ui.return_window')
local rows = require('eca.review.undo_rows')
local sanitize = require('eca.ui.sanitize')

local M = {}

---@class eca.UndoFile
---@field path string
---@field what 'restore'|'create'|'delete'
---@field added integer
---@field removed integer
---@field conflict? string why it needs the user's word
---@field fault? string why it cannot be done
---@field command? 'made'|'changed'|'deleted' what a command did to it
---@field seen string names what it was as it was planned
---@field take? boolean the user said so

---@class eca.UndoPlan
---@field turns integer[] the newest first
---@field prompt? string
---@field again? boolean
---@field files eca.UndoFile[]
---@field unkept? string[] prompts of turns whose files nobody here has kept
---@field why? string there is nothing to undo

---@class eca.Rollback
---@field block integer from whose prompt on the chat is undone
---@field messages boolean what was said goes, too

---@class eca.Undo
---@field chat string
---@field plan eca.UndoPlan
---@field rollback? eca.Rollback
---@field by_server? boolean the user said so
---@field panel eca.PanelHandle

--- Called when turns were undone in some files (absolute paths), or done again.
---@alias eca.UndoListener fun(chat: string, plan: eca.UndoPlan, files: string[])

local listeners = {} ---@type eca.UndoListener[]

---@param listener eca.UndoListener
function M.on_undone(listener)
  listeners[#listeners + 1] = listener
end

---@param undo eca.Undo
---@return [string, string][] keys and what they do
local function keys_of(undo)
  local plan = undo.plan
  local has_conflicts = #(plan.unkept or {}) > 0
    or vim.iter(plan.files):any(function(file)
      return file.conflict ~= nil
    end)
  local messages = undo.rollback and undo.rollback.messages
  local verb = plan.again and 'do it again' or messages and 'undo, messages too' or 'undo'
  local keys = { { 'u', verb } }
  if has_conflicts then
    vim.list_extend(keys, { { 'k', 'keep mine' }, { 't', 'take theirs' } })
  end
  return vim.list_extend(keys, { { 'd', 'diff' }, { 'q', 'cancel' } })
end

--- Turns as people name them.
---@param numbers integer[] the newest first
---@return string
local function name_of(numbers)
  local oldest, newest = numbers[#numbers], numbers[1]
  if not oldest then
    return 'turns of another day'
  end
  return oldest == newest and ('turn %d'):format(oldest)
    or ('turns %d to %d'):format(oldest, newest)
end

---@param path string
local function reload(path)
  local buf = paths.buffer_of(path)
  if buf and vim.bo[buf].modified then
    conflicts.take(buf)
  end
end

---@param failed { path: string, fault: string, copy?: string }
local function tell_failure(failed)
  local name = paths.short(failed.path)
  if failed.copy then
    notify.error(('%s is damaged: %s'):format(name, failed.fault))
    notify.error(('what %s was is in %s'):format(name, paths.short(failed.copy)))
  else
    notify.warn(('%s is as it was: %s'):format(name, failed.fault))
  end
end

---@param undo eca.Undo
---@param result { done: string[], failed: { path: string, fault: string, copy?: string }[] }
local function tell(undo, result)
  vim.tbl_map(reload, result.done)
  for _, listener in ipairs(listeners) do
    listener(undo.chat, undo.plan, result.done)
  end
  vim.tbl_map(tell_failure, result.failed)
  local count = #result.done == 1 and '1 file' or ('%d files'):format(#result.done)
  if #result.done > 0 then
    local word = undo.plan.again and 'done again' or 'undone'
    notify.info(('%s %s in %s'):format(name_of(undo.plan.turns), word, count))
  end
end

--- Have the server do what is its own: messages, and files that nobody here has kept.
---@param undo eca.Undo
---@return boolean is_asked
local function ask_server(undo)
  local rollback = undo.rollback
  local wants = rollback and (rollback.messages or undo.by_server)
  if rollback and wants then
    local wanted = { chat = undo.chat, block = rollback.block }
    wanted.messages, wanted.tools = rollback.messages, undo.by_server or false
    host.send('rollback', wanted)
  end
  return wants or false
end

---@param undo eca.Undo
local function confirm(undo)
  local chosen = vim.tbl_map(function(file)
    return { file.path, file.seen }
  end, vim.tbl_filter(rows.is_done, undo.plan.files))
  undo.panel.close()
  if #chosen == 0 then
    if not ask_server(undo) then
      notify.info('nothing was undone')
    end
    return
  end
  local wanted = { chat = undo.chat, turns = undo.plan.turns, files = chosen }
  requests.ask('undo_turn', wanted, function(result)
    tell(undo, result)
    ask_server(undo)
  end)
end

---@param undo eca.Undo
---@return eca.UndoFile?
local function file_here(undo)
  return undo.plan.files[vim.api.nvim_win_get_cursor(0)[1]]
end

---@param undo eca.Undo
---@param take boolean
local function choose(undo, take)
  local file = file_here(undo)
  if file and file.conflict then
    file.take = take
  elseif not file then
    undo.by_server = take
  end
  undo.panel.write(rows.text(undo))
end

---@param undo eca.Undo
local function compare(undo)
  local file = file_here(undo)
  if file then
    undo.panel.close()
    local wanted = { chat = undo.chat, turns = undo.plan.turns, path = file.path }
    diff.ask('checkpoint', wanted)
  end
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
    d = function()
      compare(undo)
    end,
  }
end

---@param undo eca.Undo
---@param asked eca.Asked
local function show(undo, asked)
  if not return_window.may_take(asked, 'what undo would do') then
    return
  end
  local plan, text = undo.plan, rows.text(undo)
  local title = ('%s %s'):format(plan.again and 'do again' or 'undo', name_of(plan.turns))
  undo.panel = panel.show({
    title = ('%s: %s'):format(title, sanitize.line(plan.prompt)),
    lines = text.lines,
    marks = text.marks,
    keys = keys_of(undo),
    actions = actions(undo),
  })
end

--- Ask whether a turn is to be undone, in all of its files or in some.
---@param chat string
---@param turn? integer default: the last that changed something
---@param files? string[] absolute
function M.open(chat, turn, files)
  local wanted = { chat = chat, turn = turn, paths = files }
  local asked = return_window.asked()
  requests.ask('plan_undo', wanted, function(plan)
    if plan and #plan.files > 0 then
      show({ chat = chat, plan = plan }, asked)
    elseif plan then
      notify.info(plan.why or 'there is nothing to undo')
    end
  end)
end

--- Ask whether the files of all turns from a prompt on are to be put back; with them the messages
--- may go.
---@param chat string
---@param block integer that the prompt is, or that belongs to it
---@param messages boolean
function M.roll_back(chat, block, messages)
  local asked = return_window.asked()
  requests.ask('plan_undo', { chat = chat, since = block }, function(plan)
    local undo = { chat = chat, plan = plan, rollback = { block = block, messages = messages } }
    if plan and #plan.files + #plan.unkept > 0 then
      show(undo, asked)
    elseif plan and not ask_server(undo) then
      notify.info('there is no file to put back')
    end
  end)
end

return M
