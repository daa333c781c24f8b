--- Undoing a turn: a float tells what would become of each file, and asks.
---
--- Rules kept here:
--- - A file that somebody else has changed since stays as it is, unless the user says otherwise.
--- - Nothing is done before `u`; leaving the float does nothing.
--- - It comes up only before a user who has pressed no key since he asked.
local paths = require('eca.paths')

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
---@field turn? integer
---@field prompt? string
---@field again? boolean
---@field files eca.UndoFile[]

---@class eca.Undo
---@field chat string
---@field plan eca.UndoPlan
---@field panel eca.PanelHandle

--- Cells of the counts of lines, and of a name at most.
local COUNTS, MOST_NAME = 8, 40

local WHAT = { restore = 'put back', create = 'made again', delete = 'deleted' }

---@param file eca.UndoFile
---@return boolean
local function is_done(file)
  return not file.fault and (not file.conflict or file.take == true)
end

---@param file eca.UndoFile
---@return string text, string group
local function fate(file)
  if file.fault then
    return 'cannot be put back: ' .. file.fault, 'EcaError'
  elseif file.conflict and not file.take then
    return file.conflict .. ', kept as it is', 'EcaToolWaiting'
  end
  local what = WHAT[file.what]
  what = file.command and ('%s, %s by a command'):format(what, file.command) or what
  return file.conflict and ('%s, %s'):format(file.conflict, what) or what, 'EcaMuted'
end

---@param plan eca.UndoPlan
---@return [string, string][] keys and what they do
local function keys_of(plan)
  local conflicts = vim.iter(plan.files):any(function(file)
    return file.conflict ~= nil
  end)
  local keys = { { 'u', plan.again and 'do it again' or 'undo' } }
  if conflicts then
    vim.list_extend(keys, { { 'k', 'keep mine' }, { 't', 'take theirs' } })
  end
  return vim.list_extend(keys, { { 'd', 'diff' }, { 'q', 'cancel' } })
end

---@param text eca.PanelText
---@param segments [string, string?][] text and group
local function add(text, segments)
  local line, row = '', #text.lines
  for _, segment in ipairs(segments) do
    if segment[2] then
      text.marks[#text.marks + 1] = { row, #line, #line + #segment[1], segment[2] }
    end
    line = line .. segment[1]
  end
  text.lines[row + 1] = line
end

---@param file eca.UndoFile
---@param width integer of the column of names
---@return [string, string?][]
local function row_of(file, width)
  local name = require('eca.cells').pad_path(paths.short(file.path), width)
  local said, group = fate(file)
  local added, removed = ('+%d'):format(file.added), ('-%d'):format(file.removed)
  local pad = (' '):rep(math.max(0, COUNTS - #added - #removed))
  local row = { { is_done(file) and '  ' or '! ', 'EcaToolWaiting' }, { name, 'EcaToolTarget' } }
  if not file.fault then
    vim.list_extend(row, { { '  ' }, { added, 'EcaDiffAdd' }, { ' ' } })
    vim.list_extend(row, { { removed, 'EcaDiffDelete' }, { pad } })
  end
  return vim.list_extend(row, { { '  ' }, { said, group } })
end

---@param plan eca.UndoPlan
---@return eca.PanelText
local function text_of(plan)
  local text = { lines = {}, marks = {} } ---@type eca.PanelText
  local widest = 0
  for _, file in ipairs(plan.files) do
    widest = math.max(widest, vim.fn.strdisplaywidth(paths.short(file.path)))
  end
  for _, file in ipairs(plan.files) do
    add(text, row_of(file, math.min(widest, MOST_NAME)))
  end
  return text
end

---@param path string
local function reload(path)
  local buf = paths.buffer_of(path)
  if buf and vim.bo[buf].modified then
    require('eca.conflicts').take(buf)
  end
end

---@param chat string
---@param plan eca.UndoPlan
---@param result { done: string[], failed: { path: string, fault: string }[] }
local function tell(chat, plan, result)
  vim.tbl_map(reload, result.done)
  require('eca.review').undone(chat, plan, result.done)
  local notify = require('eca.notify')
  for _, failed in ipairs(result.failed) do
    notify.warn(('%s is as it was: %s'):format(paths.short(failed.path), failed.fault))
  end
  local count = #result.done == 1 and '1 file' or ('%d files'):format(#result.done)
  if #result.done > 0 then
    local word = plan.again and 'done again' or 'undone'
    notify.info(('turn %d %s in %s'):format(plan.turn, word, count))
  end
end

---@param undo eca.Undo
local function confirm(undo)
  local chosen = vim.tbl_map(function(file)
    return { file.path, file.seen }
  end, vim.tbl_filter(is_done, undo.plan.files))
  undo.panel.close()
  if #chosen == 0 then
    require('eca.notify').info('nothing was undone')
    return
  end
  local wanted = { chat = undo.chat, turn = undo.plan.turn, files = chosen }
  require('eca.requests').ask('undo_turn', wanted, function(result)
    tell(undo.chat, undo.plan, result)
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
    undo.panel.write(text_of(undo.plan))
  end
end

---@param undo eca.Undo
local function compare(undo)
  local file = file_here(undo)
  if file then
    undo.panel.close()
    local wanted = { chat = undo.chat, turn = undo.plan.turn, path = file.path }
    require('eca.diff').ask('checkpoint', wanted)
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

---@param chat string
---@param plan eca.UndoPlan
---@param asked eca.Asked
local function show(chat, plan, asked)
  if not plan.turn or #plan.files == 0 then
    require('eca.notify').info('there is nothing to undo')
    return
  elseif not require('eca.origin').may_take(asked, 'what undo would do') then
    return
  end
  local text = text_of(plan)
  local verb = plan.again and 'do again' or 'undo'
  local undo = { chat = chat, plan = plan }
  undo.panel = require('eca.panel').show({
    title = ('%s turn %d: %s'):format(verb, plan.turn, require('eca.harmless').line(plan.prompt)),
    lines = text.lines,
    marks = text.marks,
    keys = keys_of(plan),
    actions = actions(undo),
  })
end

--- Ask whether a turn is to be undone, in all of its files or in some.
---@param chat string
---@param turn? integer default: the last that changed something
---@param files? string[] absolute
function M.open(chat, turn, files)
  local wanted = { chat = chat, turn = turn, paths = files }
  local asked = require('eca.origin').asked()
  require('eca.requests').ask('plan_undo', wanted, function(plan)
    show(chat, plan, asked)
  end)
end

return M
