--- Rows of the list of changes: one for each turn, followed by one for each of its changes, and
--- below each the comments on it.
---
--- Rules kept here: the rows of turns and comments are changes of kinds of their own.
local comment_marks = require('eca.review.comment_marks')
local files = require('eca.files')
local keys = require('eca.ui.keys')
local notes = require('eca.review.notes')
local paths = require('eca.files.paths')
local sanitize = require('eca.ui.sanitize')

local M = {}

local TITLE = 'changes of the agent'

--- The actions that the title names.
---@type [string, string][]
local NAMED = {
  { 'ChangeKeep', 'keep' },
  { 'ChangeRevert', 'revert' },
  { 'ChangeComment', 'comment' },
  { 'ChangeSend', 'send' },
  { 'Keys', 'keys' },
}

--- The title of the list, with the keys that its window has; they are mapped when it opens.
---@return string
function M.title()
  local buf = vim.fn.getqflist({ qfbufnr = 0 }).qfbufnr
  local parts = { TITLE } ---@type string[]
  for _, named in ipairs(buf ~= 0 and NAMED or {}) do
    local action, word = unpack(named)
    local key = keys.of(buf, 'n', action)
    parts[#parts + 1] = key and ('%s %s'):format(key, word) or nil
  end
  return table.concat(parts, '  ')
end

---@param change eca.Change
---@return eca.Change
local function heading(change)
  return {
    key = ('turn %d'):format(change.turn),
    turn = change.turn,
    prompt = change.prompt,
    path = '',
    kind = 'turn',
    line = 0,
    added = 0,
    removed = 0,
    text = '',
  }
end

---@param comment eca.Comment
---@return eca.Change
local function comment_row(comment)
  local row = heading({ turn = comment.turn, prompt = '' })
  row.key, row.kind, row.comment = 'comment ' .. comment.id, 'comment', comment
  row.path, row.line, row.count = comment.paths[1] or '', comment.line, comment.count
  return row
end

--- Sort changes by turn, and add the rows of turns and comments. Comments on what is not listed
--- come last.
---@param listed eca.Change[]
---@param comments eca.Comment[]
---@return eca.Change[]
function M.order(listed, comments)
  local all = vim.list_extend({}, listed) ---@type eca.Change[]
  local place = {} ---@type table<eca.Change, integer>
  for index, change in ipairs(all) do
    place[change] = index
  end
  table.sort(all, function(one, other)
    return one.turn == other.turn and place[one] < place[other] or one.turn < other.turn
  end)
  local ordered, left = {}, vim.list_extend({}, comments) ---@type eca.Change[], eca.Comment[]
  local function put(change)
    ordered[#ordered + 1] = change
    local at = notes.place(change, change.line)
    for _, comment in ipairs(left) do
      ordered[#ordered + 1] = notes.is_on(comment, at) and comment_row(comment) or nil
    end
    left = vim.tbl_filter(function(comment)
      return not notes.is_on(comment, at)
    end, left)
  end
  for index, change in ipairs(all) do
    if index == 1 or change.turn ~= all[index - 1].turn then
      put(heading(change))
    end
    put(change)
  end
  ordered[#ordered + 1] = #left > 0 and heading({ turn = 0, prompt = '' }) or nil
  return vim.list_extend(ordered, vim.tbl_map(comment_row, left))
end

--- The last line of a change.
---@param change eca.Change
---@param line integer its current first line
---@return integer
function M.last_line(change, line)
  return line + math.max((change.count or 1) - 1, 0)
end

--- The text of a change, with a shortened path.
---@param change eca.Change
---@return string
function M.subject(change)
  local first, last = change.text:find(change.origin or '\n', 1, true)
  if not first then
    return change.text
  end
  local name = paths.short(change.origin)
  return change.text:sub(1, first - 1) .. name .. change.text:sub(last + 1)
end

---@param change eca.Change
---@return string[]
local function parts_of(change)
  if change.kind == 'turn' then
    local prompt = change.prompt ~= '' and ': ' .. change.prompt or ''
    return { change.turn == 0 and 'comments' or ('turn %d%s'):format(change.turn, prompt) }
  elseif change.kind == 'comment' then
    local state = comment_marks.state(change.comment)
    return { ('comment, %s: %s'):format(state, sanitize.line(change.comment.text)) }
  end
  local whole = change.added + change.removed > 0
  local counts = whole and ('+%d -%d'):format(change.added, change.removed) or ''
  return { counts, change.fault or '', M.subject(change) }
end

--- The text of a row: what was done with the change comes first.
---@param change eca.Change
---@param words table<string, string> what was done, by key
---@return string
function M.text(change, words)
  local parts = vim.list_extend({ words[change.key] or '' }, parts_of(change))
  local shown = vim.tbl_filter(function(part)
    return part ~= ''
  end, parts)
  return table.concat(shown, '  ')
end

--- A row as an item of the quickfix list.
---@param change eca.Change
---@param words table<string, string> what was done, by key
---@return table
function M.item(change, words)
  local item = { user_data = { change = change.key } }
  if change.path == '' or (change.comment and change.comment.subject ~= '') then
    item.text, item.valid = M.text(change, words), 0
    return item
  end
  item.bufnr, change.fault = files.add(change.path)
  item.text, item.valid = M.text(change, words), item.bufnr and 1 or 0
  item.lnum = change.line
  item.end_lnum = M.last_line(change, change.line)
  return item
end

return M
