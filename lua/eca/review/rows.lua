--- Rows of the list of changes: one for each turn, followed by one for each of its changes.
---
--- Rules kept here: the row of a turn is a change of kind `turn`, so that the user can comment on
--- it.
local files = require('eca.files')
local keys = require('eca.ui.keys')
local paths = require('eca.files.paths')

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

--- Sort changes by turn and add the rows of turns. Those of `others` come last in their turn.
---@param listed eca.Change[]
---@param others eca.Change[] may include rows of turns
---@return eca.Change[]
function M.order(listed, others)
  local all = vim.list_extend({}, listed) ---@type eca.Change[]
  local place = {} ---@type table<eca.Change, integer>
  table.sort(others, function(one, other)
    return one.path == other.path and one.line < other.line or one.path < other.path
  end)
  for index, change in ipairs(vim.list_extend(all, others)) do
    place[change] = index
  end
  table.sort(all, function(one, other)
    return one.turn == other.turn and place[one] < place[other] or one.turn < other.turn
  end)
  local ordered = {} ---@type eca.Change[]
  for index, change in ipairs(all) do
    if index == 1 or change.turn ~= all[index - 1].turn then
      ordered[#ordered + 1] = heading(change)
    end
    ordered[#ordered + 1] = change.kind ~= 'turn' and change or nil
  end
  return ordered
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
  end
  local whole = change.added + change.removed > 0
  local counts = whole and ('+%d -%d'):format(change.added, change.removed) or ''
  local state = change.lost and 'changed again' or ''
  return { counts, state, change.fault or '', M.subject(change) }
end

--- The text of a row: what was done with the change comes first.
---@param change eca.Change
---@param notes eca.ReviewNotes
---@return string
function M.text(change, notes)
  local parts = { notes.words[change.key] or '', notes.comments[change.key] and 'commented' or '' }
  local shown = vim.tbl_filter(function(part)
    return part ~= ''
  end, vim.list_extend(parts, parts_of(change)))
  return table.concat(shown, '  ')
end

--- A row as an item of the quickfix list.
---@param change eca.Change
---@param notes eca.ReviewNotes
---@return table
function M.item(change, notes)
  local item = { user_data = { change = change.key } }
  if change.kind == 'turn' then
    item.text, item.valid = M.text(change, notes), 0
    return item
  end
  item.bufnr, change.fault = files.add(change.path)
  item.text, item.valid = M.text(change, notes), item.bufnr and 1 or 0
  item.lnum = change.line
  item.end_lnum = M.last_line(change, change.line)
  return item
end

return M
