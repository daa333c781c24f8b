--- What of a pending request's diff is drawn, and was on the screen.
---
--- Rules kept here:
--- - While a request waits, both sides show every changed row whole: lines wrap, and only equal
---   ones are folded.
--- - All of it was on the screen if all changed rows of both sides were, of each file, and all
---   lines above them.
local consent_window = require('eca.consent.window')
local decide = require('eca.input.decide')
local diffopt = require('eca.diff.diffopt')
local edits = require('eca.diff.edits')
local seen_rows = require('eca.consent.seen_rows')

local M = {}

---@class eca.SeenDiff of a request as it was shown
---@field request eca.Request
---@field count integer of files
---@field files table<integer, true> whose changes were on the screen whole

---@class eca.DiffScreen
---@field watches eca.SeenRows[]
---@field left integer changed rows that were never on the screen
---@field seen eca.SeenDiff

local seen = {} ---@type table<string, eca.SeenDiff> by `key_of`

---@param request eca.Request
---@return string
local function key_of(request)
  return edits.version(request)
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

--- Called before a tab page is compared.
---@param tab eca.DiffTab
function M.open(tab)
  tab.before = {}
  for _, win in ipairs(tab.wins) do
    tab.before[win] = consent_window.before(win)
  end
  local request, file = tab.diff.request, tab.diff.file
  if request then
    for key, each in pairs(seen) do
      seen[key] = decide.now(each.request) and each -- else it is not pending any more
    end
    local key = key_of(request)
    seen[key] = seen[key] or { request = request, count = file and file.count or 1, files = {} }
    tab.screen = { watches = {}, left = 0, seen = seen[key] }
    diffopt.take()
  end
end

--- Called when a tab page is compared, and when its text is another: what is drawn from now on was
--- on the screen.
---@param tab eca.DiffTab
function M.begin(tab)
  local screen, fault = tab.screen, tab.diff.fault
  -- The text of both sides begins in the same column: with the options that the user has for any
  -- window, which the side without a file got.
  local columns = { signcolumn = 'no' } ---@type table<string, any>
  local bound = vim.fn.bufwinid(tab.sides.bound)
  for _, name in ipairs(COLUMNS) do
    columns[name] = vim.wo[bound][name]
  end
  if not screen then
    for _, win in ipairs(tab.wins) do
      for name, value in pairs(columns) do
        vim.wo[win][0][name] = value
      end
    end
    return
  end
  for place, win in ipairs(tab.wins) do
    local own = vim.deepcopy(columns)
    for _, name in ipairs(THEIRS) do
      own[name] = vim.api.nvim_get_option_value(name, { win = win, scope = 'local' })
    end
    if not fault then
      own.diff, own.foldenable, own.foldmethod = true, true, 'diff'
      own.scrollbind, own.cursorbind = true, true
    end
    consent_window.set(win, own)
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
    left = left + (vim.api.nvim_win_is_valid(wins[place]) and watch() or 0)
  end
  local file = tab.diff.file and tab.diff.file.place or 0
  local files = screen.seen.files
  local changed = left ~= screen.left or left == 0 and not files[file]
  screen.left = left
  files[file] = files[file] or left == 0 or nil
  return changed
end

--- What was not on the screen, in words and short; nil if it was all.
---@param tab eca.DiffTab
---@return string? words, string? short
function M.unseen(tab)
  local screen = tab.screen
  if not screen then
    return nil
  end
  local files = screen.seen.count - vim.tbl_count(screen.seen.files)
  local others = math.max(0, files - (screen.left > 0 and 1 or 0))
  local words, short = {}, {} ---@type string[], string[]
  for _, each in ipairs({ { screen.left, 'row' }, { others, 'file' } }) do
    local count, name = each[1], each[2]
    if count > 0 then
      words[#words + 1] = ('%d more %s%s'):format(count, name, count > 1 and 's' or '')
      short[#short + 1] = ('+%d'):format(count)
    end
  end
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
---@param changed fun(tab: eca.DiffTab)
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
      changed(tab)
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
