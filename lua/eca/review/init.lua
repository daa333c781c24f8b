--- The changes of a chat's tools in the quickfix list: each is kept, reverted or commented.
---
--- Rules kept here:
--- - The list is an ordinary quickfix list; its lines move with edits of the files. Our keys mean
---   something only while it is the one that is shown.
--- - What is done acts on the change under the cursor: of the list, or of a file. On the line of a
---   turn it acts on the whole turn.
local hunks = require('eca.review.hunks')
local paths = require('eca.paths')

local M = {}

local TITLE = 'changes of the agent'
local KEYS = TITLE .. '  a keep  r revert  c comment  s send  g? keys'
local ROWS = 10

---@class eca.Review
---@field id integer of the quickfix list
---@field chat string
---@field changes table<string, eca.Change> by key
---@field words table<string, string> what was done, by key
---@field comments table<string, string>

---@class eca.ReviewItem of the quickfix list
---@field bufnr integer
---@field lnum integer
---@field text string
---@field user_data? any

local review ---@type eca.Review?

--- The title of the list: where there is room for one hint, the keys.
---@return string
local function title()
  return require('eca.config').get().keymaps and KEYS or TITLE
end

---@param what table
---@return table
local function list(what)
  return vim.fn.getqflist(vim.tbl_extend('force', { id = review and review.id or 0 }, what))
end

--- Is our list the one that the quickfix window shows?
---@return boolean
function M.is_shown()
  return review ~= nil and vim.fn.getqflist({ id = 0 }).id == review.id
end

---@param change eca.Change
---@return string
local function describe(change)
  local whole = change.added + change.removed > 0
  local counts = whole and ('+%d -%d'):format(change.added, change.removed) or ''
  local parts = { review and review.words[change.key] or '', counts }
  parts[3] = change.lost and 'changed again' or ''
  parts[4] = change.text
  local told = vim.tbl_filter(function(part)
    return part ~= ''
  end, parts)
  return table.concat(told, '  ')
end

---@param change eca.Change
---@return table
local function item(change)
  local last = math.max(change.line, change.line + (change.count or 1) - 1)
  return {
    bufnr = vim.fn.bufadd(change.path),
    lnum = change.line,
    end_lnum = last,
    text = describe(change),
    user_data = { change = change.key },
  }
end

---@param change eca.Change
---@return table
local function heading(change)
  local prompt = change.prompt ~= '' and ': ' .. change.prompt or ''
  local text = ('turn %d%s'):format(change.turn, prompt)
  return { text = text, valid = 0, user_data = { turn = change.turn } }
end

---@param changes eca.Change[]
---@return table[]
local function items_of(changes)
  local items, turn = {}, nil
  for _, change in ipairs(changes) do
    if change.turn ~= turn then
      turn = change.turn
      items[#items + 1] = heading(change)
    end
    items[#items + 1] = item(change)
  end
  return items
end

--- Map our keys in the window of the list.
local function attach()
  local found = vim.fn.getqflist({ qfbufnr = 0 }).qfbufnr
  if found ~= 0 and vim.b[found].eca_review == nil then
    vim.b[found].eca_review = true
    require('eca.keys').attach(found, 'changes')
  end
end

local function open_window()
  if vim.api.nvim_win_get_config(0).relative ~= '' then
    vim.api.nvim_set_current_win(require('eca.windows').code_window())
  end
  vim.cmd(('botright copen %d'):format(ROWS))
  attach()
end

---@param chat string
---@param changes eca.Change[]
local function show(chat, changes)
  if #changes == 0 then
    require('eca.notify').info('no change of the agent is left to look at')
    return
  end
  review = { id = 0, chat = chat, changes = {}, words = {}, comments = {} }
  for _, change in ipairs(changes) do
    review.changes[change.key] = change
  end
  vim.fn.setqflist({}, ' ', { title = title(), items = items_of(changes) })
  review.id = vim.fn.getqflist({ id = 0 }).id
  open_window()
  vim.fn.setqflist({}, 'a', { id = review.id, idx = 2 })
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
end

--- Show all changes of a chat, or of one of its turns, in the quickfix list.
---@param chat string
---@param turn? integer
function M.open(chat, turn)
  require('eca.requests').ask('changes', { chat = chat, turn = turn }, function(changes)
    show(chat, changes)
  end)
end

---@param found eca.ReviewItem
---@return boolean
local function under_cursor(found)
  local line = vim.api.nvim_win_get_cursor(0)[1]
  local here = found.bufnr == vim.api.nvim_get_current_buf()
  local change = here and review and review.changes[(found.user_data or {}).change]
  if not change then
    return false
  end
  return line >= found.lnum and line <= found.lnum + math.max((change.count or 1) - 1, 0)
end

--- The changes that are meant: under the cursor, or of the turn whose line that is.
---@return { change: eca.Change, line: integer }[]
function M.targets()
  if not review or list({ id = 0 }).id == 0 then
    require('eca.notify').info('there is no list: `:Eca changes` makes it')
    return {}
  end
  local items = list({ items = 0 }).items ---@type eca.ReviewItem[]
  local in_list = vim.bo.buftype == 'quickfix' and M.is_shown()
  local row = in_list and items[vim.api.nvim_win_get_cursor(0)[1]]
  local targets = {} ---@type { change: eca.Change, line: integer }[]
  for _, found in ipairs(items) do
    local change = review.changes[(found.user_data or {}).change]
    local whole = row and row.user_data and row.user_data.turn
    if change and (found == row or (whole and whole == change.turn)) then
      targets[#targets + 1] = { change = change, line = found.lnum }
    elseif change and not row and under_cursor(found) then
      targets[#targets + 1] = { change = change, line = found.lnum }
    end
  end
  if #targets == 0 then
    require('eca.notify').info('there is no change of the agent here')
  end
  return targets
end

--- Write into the list what was done with changes.
---@param word string
---@param keys table<string, true>
local function tell(word, keys)
  local state = assert(review)
  local items = list({ items = 0 }).items ---@type eca.ReviewItem[]
  for _, found in ipairs(items) do
    local key = (found.user_data or {}).change
    if key and keys[key] then
      state.words[key] = word
      found.text = describe(state.changes[key])
    end
  end
  local window = vim.fn.getqflist({ winid = 0 }).winid
  local view = window ~= 0 and vim.api.nvim_win_get_cursor(window)
  vim.fn.setqflist({}, 'r', { id = state.id, title = title(), items = items })
  if view then
    vim.api.nvim_win_set_cursor(window, view)
  end
end

--- Keep changes: they are not listed again.
function M.keep()
  local targets = M.targets()
  local keys = {} ---@type table<string, true>
  for _, target in ipairs(targets) do
    keys[target.change.key] = true
  end
  if review and #targets > 0 then
    require('eca.host').send('keep', { chat = review.chat, keys = vim.tbl_keys(keys) })
    tell('kept', keys)
  end
end

---@param target { change: eca.Change, line: integer }
---@return boolean reverted
local function revert_lines(target)
  local worked, result = pcall(hunks.revert, target.change, target.line)
  if worked and result then
    return true
  end
  local place = ('%s:%d'):format(paths.short(target.change.path), target.line)
  local why = worked and 'the change is not there any more' or tostring(result)
  require('eca.notify').warn(('%s: %s'):format(place, why))
  return false
end

--- Revert changes in the buffers of their files. A file that was made, deleted or moved is put
--- back on disk, after a question.
function M.revert()
  local targets, done = M.targets(), {}
  for index = #targets, 1, -1 do
    local target = targets[index]
    if target.change.kind == 'lines' then
      done[target.change.key] = revert_lines(target) or nil
    elseif review and #targets == 1 then
      require('eca.review.undo').open(review.chat, target.change.turn, target.change.path)
    end
  end
  if next(done) then
    tell('reverted', done)
    require('eca.notify').info('reverted in the buffer: u undoes it, :w writes it')
  end
end

--- Ask for a comment on a change; an empty one takes it away.
function M.comment()
  local target = M.targets()[1]
  local state = review
  if not target or not state then
    return
  end
  local key = target.change.key
  local place = ('%s:%d'):format(vim.fs.basename(target.change.path), target.line)
  local options = { prompt = ('Comment on %s: '):format(place), default = state.comments[key] }
  vim.ui.input(options, function(text)
    if text and review == state then
      state.comments[key] = text:find('%S') and text or nil
      tell(state.comments[key] and 'commented' or '', { [key] = true })
    end
  end)
end

--- Send all comments as one prompt.
function M.send()
  local comments = {} ---@type eca.Comment[]
  local sent = {} ---@type table<string, true>
  for _, found in ipairs(review and list({ items = 0 }).items or {}) do
    local key = (found.user_data or {}).change
    local text = key and review and review.comments[key]
    if text then
      sent[key] = true
      comments[#comments + 1] = { change = review.changes[key], line = found.lnum, text = text }
    end
  end
  if not review or #comments == 0 then
    require('eca.notify').info('there is no comment to send')
    return
  end
  require('eca').send(require('eca.review.comments').prompt(comments), { chat = review.chat })
  review.comments = {}
  tell('sent', sent)
end

vim.api.nvim_create_autocmd('FileType', {
  group = vim.api.nvim_create_augroup('eca.review', {}),
  pattern = 'qf',
  callback = attach,
})

return M
