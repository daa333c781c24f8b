--- The diff tab page: a file beside its proposed version, in Vim's diff mode.
---
--- Rules kept here:
--- - The tab page the user came from stays as it is, and leaving this one returns there.
--- - Leaving in any way (`q`, an answer, `:q`, `:tabclose`) ends diff mode on both sides before
---   their windows are gone, so that no option of ours stays with the real file.
--- - Its keys answer for the texts it shows. If the request has changed since, the float asks, and
---   `d` there shows the new diff.
--- - What the user makes of the proposed text is what they allow, once the host has taken it over
---   (`edits`).
--- - A call that changes several files shows one of them at a time.
--- - It opens later than it was asked for, and only if the user has pressed no key since. Its keys
---   do nothing within the guard time: a key pressed then was meant for something else.
local answer_keys = require('eca.approval.keys')
local decide = require('eca.input.decide')
local diff_notice = require('eca.diff.notice')
local diff_screen = require('eca.diff.screen')
local diff_sides = require('eca.diff.sides')
local edits = require('eca.diff.edits')
local guard = require('eca.consent.guard')
local host = require('eca.host')
local others = require('eca.ui.others')
local return_window = require('eca.ui.return_window')
local winbar = require('eca.diff.winbar')

local M = {}

---@class eca.DiffTab
---@field diff eca.Diff
---@field keys string[] the mapped ones
---@field sides eca.DiffSides
---@field tab integer
---@field home integer tab page the user came from
---@field origin eca.Origin where the user was in it
---@field guard? eca.Guard nil: it is not visible yet
---@field wins [integer, integer] left, right
---@field before table<integer, table<string, any>> options by window
---@field notice? integer window of the lines above both sides
---@field screen? eca.DiffScreen of the diff of a request
---@field taken? integer changedtick of the proposed text that the host has taken over
---@field asking? boolean it is about to take it over
---@field when_taken? fun() called when it has
---@field changed fun() called when it has
---@field group? integer its autocommands

local tabs = {} ---@type table<string, eca.DiffTab> by chat and `diff.id`
local asked ---@type eca.Asked? when the user last asked for a diff
local pressed ---@type eca.DiffTab? whose key is being done
local returned = function(_) end ---@type fun(origin: eca.Origin)

--- Call a function when the user has returned from a diff.
---@param listener fun(origin: eca.Origin)
function M.on_returned(listener)
  returned = listener
end

---@param diff eca.Diff
---@return string
local function key_of(diff)
  return diff.chat .. ' ' .. diff.id
end

--- The tab page of a request, even if the request has changed since.
---@param item eca.Request
---@return eca.DiffTab?
local function tab_of(item)
  for _, tab in pairs(tabs) do
    if tab.diff.request and tab.diff.request.id == item.id then
      return tab
    end
  end
end

---@param tab eca.DiffTab
---@return boolean
local function valid(tab)
  return vim.api.nvim_tabpage_is_valid(tab.tab)
end

---@param tab eca.DiffTab
local function unbind(tab)
  for _, key in ipairs(tab.keys) do
    pcall(vim.keymap.del, 'n', key, { buffer = tab.sides.bound })
  end
  tab.keys = {}
end

---@param tab eca.DiffTab
local function forget(tab)
  local key, request = key_of(tab.diff), tab.diff.request
  if tabs[key] == tab then
    tabs[key] = nil
    if request and decide.now(request) then -- the user's edits are kept until the answer
      unbind(tab)
      edits.keep(tab.diff, tab.sides)
    end
  end
  if tab.group then
    vim.api.nvim_del_augroup_by_id(tab.group)
    tab.group = nil
  end
  for _, win in ipairs(tab.wins) do
    if vim.api.nvim_win_is_valid(win) then
      vim.api.nvim_win_call(win, function()
        vim.cmd.diffoff()
        vim.cmd.setlocal('winbar<')
      end)
    end
  end
  diff_screen.close(tab)
end

---@param tab eca.DiffTab
---@param inside boolean the user is in it, or was until it was closed: they return
local function close(tab, inside)
  forget(tab)
  if valid(tab) and #vim.api.nvim_list_tabpages() == 1 then
    others.call('TabNew', vim.cmd.tabnew)
  end
  if inside and vim.api.nvim_tabpage_is_valid(tab.home) then
    others.go_to_tab(tab.home)
    return_window.go_back(tab.origin)
    returned(tab.origin)
  end
  if valid(tab) then
    local number = vim.api.nvim_tabpage_get_number(tab.tab)
    others.call('TabClosed', vim.cmd.tabclose, { range = { number } })
  end
  diff_sides.put_away(tab.sides)
end

---@param tab eca.DiffTab
---@return boolean
local function is_inside(tab)
  return vim.api.nvim_get_current_tabpage() == tab.tab
end

--- Close the tab page of a request that was answered, here or elsewhere.
---@param item eca.Request
---@return eca.Origin? origin where its key has led the user back to
function M.leave(item)
  local tab = tab_of(item)
  if tab then
    close(tab, is_inside(tab))
  end
  return tab and tab == pressed and tab.origin or nil
end

---@param tab eca.DiffTab
---@return eca.Choice[]
local function actions(tab)
  local request = tab.diff.request
  local now = request and decide.now(request)
  local list = now and answer_keys.of(request, now, nil, tab.diff.is_open)
    or { unpack(tab.diff.actions or {}) }
  for _, answer in ipairs(now and list or {}) do
    local run = answer.run
    if answer.key ~= 'r' and answer.key ~= 'R' then
      answer.run = function()
        edits.settle(tab, function()
          pressed = tab
          run()
          pressed = nil
        end)
      end
    end
  end
  if now and tab.diff.is_open then
    list[#list + 1] = {
      key = '-',
      text = 'hunk',
      run = function()
        edits.toggle_here(tab)
      end,
    }
  end
  local chat, file = tab.diff.chat, tab.diff.file
  local ways = file and { { ']f', 'next file', 1 }, { '[f', 'previous file', -1 } } or {}
  for _, way in ipairs(ways) do
    list[#list + 1] = {
      key = way[1],
      text = way[2],
      run = function()
        local place = (file.place + way[3]) % file.count
        M.ask('diff', { chat = chat, block = file.block, file = place })
      end,
    }
  end
  list[#list + 1] = {
    key = 'q',
    text = 'close',
    run = function()
      close(tab, true)
    end,
  }
  return list
end

---@param tab eca.DiffTab
local function draw_winbars(tab)
  diff_screen.look(tab)
  winbar.draw(tab, actions(tab))
end

---@param tab eca.DiffTab
local function bind(tab)
  unbind(tab)
  for _, action in ipairs(actions(tab)) do
    tab.keys[#tab.keys + 1] = action.key
    vim.keymap.set('n', action.key, function()
      if tab.guard and guard.is_over(tab.guard) then
        pressed = tab
        action.run()
        pressed = nil
      end
    end, { buffer = tab.sides.bound, nowait = true, silent = true })
  end
end

---@param tab eca.DiffTab
local function watch(tab)
  tab.group = vim.api.nvim_create_augroup('eca.diff.' .. tab.tab, { clear = true })
  vim.api.nvim_create_autocmd('WinClosed', {
    group = tab.group,
    callback = function(event)
      if vim.list_contains(tab.wins, tonumber(event.match)) then
        local inside = is_inside(tab)
        forget(tab)
        vim.schedule(function()
          close(tab, inside)
        end)
      end
    end,
  })
  vim.api.nvim_create_autocmd('BufWipeout', { -- the user has opened another buffer in its window
    group = tab.group,
    buffer = tab.sides.bound,
    callback = function()
      forget(tab)
    end,
  })
  vim.api.nvim_create_autocmd('WinResized', {
    group = tab.group,
    callback = function()
      draw_winbars(tab)
      diff_notice.fit(tab.notice)
    end,
  })
  diff_screen.watch(tab, draw_winbars)
  if tab.diff.request then
    edits.watch(tab)
  end
end

--- Turn on diff mode, with the cursor at the first change.
---@param tab eca.DiffTab
local function compare(tab)
  for _, win in ipairs(tab.wins) do
    vim.api.nvim_win_call(win, vim.cmd.diffthis)
  end
  vim.cmd('normal! gg')
  if vim.fn.diff_hlID(1, 1) == 0 and vim.fn.diff_filler(1) == 0 then
    vim.cmd('silent! normal! ]c')
  end
end

---@param diff eca.Diff
---@param home integer
---@param from eca.Origin
---@return eca.DiffTab
local function open(diff, home, from)
  vim.cmd.stopinsert()
  others.call('TabNew', vim.cmd.tabnew)
  vim.bo.bufhidden = 'wipe'
  local left = vim.api.nvim_get_current_win()
  local sides = diff_sides.make(diff)
  others.show(left, sides.left)
  local right = others.open_win(sides.right, true, { split = 'right', win = left })
  local tab = { diff = diff, keys = {}, sides = sides, home = home, origin = from }
  tab.tab, tab.wins = vim.api.nvim_get_current_tabpage(), { left, right }
  tab.notice = diff_notice.draw(diff)
  tab.changed = function()
    if is_inside(tab) then
      tab.notice = diff_notice.draw(diff, tab.notice)
      diff_screen.begin(tab)
      edits.mark(tab.wins, diff.left_out or {})
    end
    draw_winbars(tab)
  end
  return tab
end

--- Show a diff and go there. If a tab page shows the same one already, it is entered.
---@param diff eca.Diff
function M.show(diff)
  local key = key_of(diff)
  local known = tabs[key]
  local inside = known and is_inside(known)
  local home, from = vim.api.nvim_get_current_tabpage(), return_window.here()
  if known and inside then
    home, from = known.home, known.origin
  end
  if known and valid(known) and vim.deep_equal(known.diff, diff) then
    known.home, known.origin = home, from
    if not inside then
      vim.cmd.stopinsert()
      others.go_to_tab(known.tab)
    end
    known.guard = guard.begin()
    return
  elseif known then
    close(known, inside)
  end
  local tab = open(diff, home, from)
  tabs[key] = tab
  diff_screen.open(tab)
  watch(tab)
  bind(tab)
  others.go_to(tab.wins[tab.sides.bound == tab.sides.left and 1 or 2])
  if not diff.fault then
    compare(tab)
  end
  diff_screen.begin(tab)
  if diff.is_open then
    edits.mark(tab.wins, diff.left_out or {})
  end
  draw_winbars(tab)
  tab.guard = guard.begin() -- last, because opening a file may take long
end

--- Ask the host for a diff; for that of a call again is for the next of its files.
---@param intent 'diff'|'checkpoint'
---@param wanted table<string, any>
function M.ask(intent, wanted)
  for _, tab in pairs(wanted.file and {} or tabs) do
    local file = tab.diff.file
    if file and tab.diff.chat == wanted.chat and file.block == wanted.block then
      wanted.file = file.place + 1
    end
  end
  asked = return_window.asked()
  host.send(intent, wanted)
end

--- Show the diff that the host was asked for, unless the user has gone on (op `diff`).
---@param diff eca.Diff
function M.arrived(diff)
  local by = asked
  asked = nil
  if return_window.may_focus(by, 'the diff of ' .. vim.fs.basename(diff.path)) then
    M.show(diff)
  end
end

--- The tab page that shows a request as it is now, if the user is in it: the float need not ask.
---@param item eca.Request
---@return eca.DiffTab?
function M.shown(item)
  local tab = tab_of(item)
  local shown = tab and tab.diff.request --[[@as eca.Request?]]
  local is_same = shown
    and (shown.digest == item.digest or tab.asking and edits.version(shown) == edits.version(item))
  return is_same and is_inside(tab) and tab or nil
end

--- Why nothing allows a request while the user looks at its tab page: it has other text by now.
---@param item eca.Request
---@param allows? boolean
---@return string?
function M.refusal(item, allows)
  local tab = allows and M.shown(item)
  if tab and edits.is_ahead(tab) then
    edits.settle(tab, function() end)
    return 'your edits are about to be taken over: press again'
  end
end

--- Is the guard time of the tab page over that shows a request? True if none shows it.
---@param item eca.Request
---@return boolean
function M.guard_is_over(item)
  local tab = M.shown(item)
  return not tab or tab.guard ~= nil and guard.is_over(tab.guard)
end

--- Called when the pending requests have changed: removes keys that answer nothing any more.
---@param pending eca.Request[]
function M.update(pending)
  edits.update(pending)
  for _, tab in pairs(tabs) do
    if vim.api.nvim_buf_is_valid(tab.sides.bound) then
      bind(tab)
      draw_winbars(tab)
    else
      forget(tab) -- no autocommand has run for its end (`:noautocmd`, 'eventignore')
    end
  end
end

return M
