--- What of a pending request's diff is drawn, and was on the screen.
---
--- Rules kept here:
--- - While a request waits, both sides show every changed row whole: lines wrap, and only equal
---   ones are folded.
--- - All of it was on the screen if all changed rows of both sides were, of each file, and all
---   lines above them.
local consent_window = require('eca.consent.window')
local diffopt = require('eca.diff.diffopt')
local seen_rows = require('eca.consent.seen_rows')

local M = {}

---@class eca.SeenDiff
---@field count integer of files
---@field files table<integer, true> whose changes were on the screen whole

---@class eca.DiffScreen
---@field watches eca.SeenRows[]
---@field left integer changed rows that were never on the screen

local seen = {} ---@type table<string, eca.SeenDiff> by id and digest of the request

---@param request eca.Request
---@return string
local function key_of(request)
  return request.id .. ' ' .. request.digest
end

---@param diff eca.Diff
---@return eca.SeenDiff
local function seen_of(diff)
  local key = key_of(diff.request)
  seen[key] = seen[key] or { count = diff.file and diff.file.count or 1, files = {} }
  return seen[key]
end

--- The lines of a window that diff mode shows as changed.
---@param win integer
---@return eca.Lines[]
local function changed_lines(win)
  return vim.api.nvim_win_call(win, function()
    local found = {} ---@type eca.Lines[]
    for lnum = 1, vim.fn.line('$') do
      local last, changed = found[#found], vim.fn.diff_hlID(lnum, 1) > 0
      if changed and last and last[2] == lnum - 1 then
        last[2] = lnum
      elseif changed then
        found[#found + 1] = { lnum, lnum }
      end
    end
    return found
  end)
end

--- The user's own options that hide nothing.
local THEIRS = {
  'colorcolumn',
  'cursorcolumn',
  'cursorline',
  'fillchars',
  'foldcolumn',
  'scrolloff',
  'virtualedit',
}

--- Options that move the text. Signs, which only a real file has, would move it on one side.
local COLUMNS = { 'number', 'relativenumber', 'statuscolumn' }

--- Options with which the text of both sides begins in the same column: those that the user has for
--- any window, which the side without a file got.
---@param tab eca.DiffTab
---@return table<string, any>
local function same_columns(tab)
  local own = { signcolumn = 'no' } ---@type table<string, any>
  local bound = vim.fn.bufwinid(tab.sides.bound)
  for _, name in ipairs(COLUMNS) do
    own[name] = vim.wo[bound][name]
  end
  return own
end

---@param win integer
---@param columns table<string, any>
---@param compared boolean
local function set_options(win, columns, compared)
  local own = vim.deepcopy(columns)
  for _, name in ipairs(THEIRS) do
    own[name] = vim.api.nvim_get_option_value(name, { win = win, scope = 'local' })
  end
  if compared then
    own.diff, own.foldenable, own.foldmethod = true, true, 'diff'
    own.scrollbind, own.cursorbind = true, true
  end
  consent_window.set(win, own)
end

--- Called before a tab page is compared.
---@param tab eca.DiffTab
function M.open(tab)
  tab.before = {}
  for _, win in ipairs(tab.wins) do
    tab.before[win] = consent_window.before(win)
  end
  if tab.diff.request then
    tab.screen = { watches = {}, left = 0 }
    diffopt.take()
  end
end

--- Called when a tab page is compared: what is drawn from now on was on the screen.
---@param tab eca.DiffTab
function M.begin(tab)
  local screen, fault, columns = tab.screen, tab.diff.fault, same_columns(tab)
  if not screen then
    for _, win in ipairs(tab.wins) do
      for name, value in pairs(columns) do
        vim.wo[win][0][name] = value
      end
    end
    return
  end
  for place, win in ipairs(tab.wins) do
    set_options(win, columns, not fault)
    local function wanted()
      return not fault and changed_lines(win) or {}
    end
    screen.watches[place] = seen_rows.watch(win, not (fault and place == 2) and wanted or nil)
  end
  screen.watches[3] = tab.notice and seen_rows.watch(tab.notice)
end

--- Note what is on the screen.
---@param tab eca.DiffTab
---@return boolean changed there is something else to be said
function M.look(tab)
  local screen, left = tab.screen, 0
  if not screen or vim.api.nvim_get_current_tabpage() ~= tab.tab then
    return false
  end
  local wins = { tab.wins[1], tab.wins[2], tab.notice }
  for place, watch in pairs(screen.watches) do
    left = left + (vim.api.nvim_win_is_valid(wins[place]) and watch.look() or 0)
  end
  local file = tab.diff.file and tab.diff.file.place or 0
  local known = seen_of(tab.diff)
  local changed = left ~= screen.left or left == 0 and not known.files[file]
  screen.left = left
  known.files[file] = known.files[file] or left == 0 or nil
  return changed
end

--- What was not on the screen, in words and short; nil if it was all.
---@param tab eca.DiffTab
---@return string? words, string? short
function M.unseen(tab)
  local screen = tab.screen
  local known = screen and seen_of(tab.diff)
  local files = known and known.count - vim.tbl_count(known.files) or 0
  local rows = screen and screen.left or 0
  local others = files - ((rows > 0 and files > 0) and 1 or 0)
  local words, short = {}, {} ---@type string[], string[]
  ---@param count integer
  ---@param one string
  ---@param several string
  local function add(count, one, several)
    words[#words + 1] = count > 0 and ('%d more %s'):format(count, count > 1 and several or one)
      or nil
    short[#short + 1] = count > 0 and ('+%d'):format(count) or nil
  end
  add(rows, 'row', 'rows')
  add(others, 'file', 'files')
  if #words > 0 then
    return table.concat(words, ', '), table.concat(short, ' ')
  end
end

--- Was all of a request's diff on the screen?
---@param request eca.Request
---@return boolean
function M.was_whole(request)
  local known = seen[key_of(request)]
  return known ~= nil and vim.tbl_count(known.files) == known.count
end

--- Forget what was seen of requests that are not pending any more.
---@param pending eca.Request[]
function M.forget_gone(pending)
  local keys = {} ---@type table<string, true>
  for _, request in ipairs(pending) do
    keys[key_of(request)] = true
  end
  for key in pairs(seen) do
    seen[key] = keys[key] and seen[key]
  end
end

--- Called when the tab page's sides are compared no longer, with diff mode off.
---@param tab eca.DiffTab
function M.close(tab)
  for win, before in pairs(tab.before) do
    if vim.api.nvim_win_is_valid(win) then
      consent_window.release(win, before)
    end
  end
  if tab.screen and vim.api.nvim_get_current_tabpage() == tab.tab then
    diffopt.give_back()
  end
end

--- Watch the tab page: call a function when something else was on the screen.
---@param tab eca.DiffTab
---@param changed fun()
function M.watch(tab, changed)
  if not tab.screen then
    return
  end
  ---@param events string|string[]
  ---@param callback fun()
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, {
      group = tab.group,
      callback = function()
        if vim.api.nvim_get_current_tabpage() == tab.tab then
          callback()
        end
      end,
    })
  end
  on({ 'CursorMoved', 'WinResized', 'WinScrolled' }, function()
    if M.look(tab) then
      changed()
    end
  end)
  on('TabEnter', diffopt.take)
  on('TabLeave', diffopt.give_back)
  vim.api.nvim_create_autocmd('OptionSet', {
    group = tab.group,
    pattern = { 'diffopt', 'diffexpr' },
    callback = diffopt.changed,
  })
end

return M
