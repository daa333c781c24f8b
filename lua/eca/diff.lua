--- The diff tab page: a file as it is beside the file as proposed, with a real vimdiff.
---
--- Rules kept here:
--- - The tab page the user comes from is not touched, and is gone back to when this one is left.
--- - Leaving in any way (`q`, an answer, `:q`, `:tabclose`) ends the diff of both sides, before
---   their windows are gone, so that no option of ours stays with the real file.
local answers = require('eca.answers')
local diff_sides = require('eca.diff_sides')

local M = {}

--- Cells that keys without their meaning get, whatever the caption needs.
local LEAST_KEYS = 14

---@class eca.DiffTab
---@field diff eca.Diff
---@field sides eca.DiffSides
---@field tab integer
---@field origin integer tab page the user came from
---@field wins [integer, integer] left, right
---@field group integer of its autocommands

---@type table<string, string>
local PROPOSED = { new = 'new file', deleted = 'to be deleted', moved = 'to be moved' }

local tabs = {} ---@type table<string, eca.DiffTab> by chat and call

---@param item { chat: string, id: string }
---@return string
local function key_of(item)
  return item.chat .. ' ' .. item.id
end

---@param tab? eca.DiffTab
---@return boolean
local function valid(tab)
  return tab ~= nil and vim.api.nvim_tabpage_is_valid(tab.tab)
end

---@param win integer
local function undress(win)
  if vim.api.nvim_win_is_valid(win) then
    vim.api.nvim_win_call(win, function()
      vim.cmd.diffoff()
      vim.cmd.setlocal('winbar<')
    end)
  end
end

---@param tab eca.DiffTab
local function forget(tab)
  if tabs[key_of(tab.diff)] == tab then
    tabs[key_of(tab.diff)] = nil
  end
  vim.api.nvim_clear_autocmds({ group = tab.group })
  vim.tbl_map(undress, tab.wins)
end

---@param tab eca.DiffTab
local function close(tab)
  forget(tab)
  if not valid(tab) then
    diff_sides.put_away(tab.sides)
    return
  end
  local inside = vim.api.nvim_get_current_tabpage() == tab.tab
  if #vim.api.nvim_list_tabpages() == 1 then
    vim.cmd.tabnew()
  elseif inside and vim.api.nvim_tabpage_is_valid(tab.origin) then
    vim.api.nvim_set_current_tabpage(tab.origin)
  end
  vim.cmd.tabclose({ range = { vim.api.nvim_tabpage_get_number(tab.tab) } })
  diff_sides.put_away(tab.sides)
end

---@class eca.DiffAction
---@field key string
---@field text string
---@field run fun()

local NEXT = { key = ']c', text = 'next' }

---@param tab eca.DiffTab
---@return eca.Pending?
local function waiting(tab)
  for _, item in ipairs(require('eca.mirror').pending(tab.diff.chat)) do
    if item.id == tab.diff.id then
      return item
    end
  end
end

--- A request was answered, wherever: its tab page goes.
---@param item { chat: string, id: string }
function M.leave(item)
  local tab = tabs[key_of(item)]
  if not tab or not tab.diff.pending then
    return
  end
  if vim.api.nvim_buf_get_changedtick(tab.sides.bound) ~= tab.sides.tick then
    local name = vim.fs.basename(tab.diff.path)
    require('eca.notify').warn(('your edits of the proposed %s go nowhere'):format(name))
  end
  close(tab)
end

---@param tab eca.DiffTab
local function answered(tab)
  require('eca.approval').answered(tab.diff)
end

---@param tab eca.DiffTab
---@return eca.DiffAction[]
local function actions(tab)
  local diff = tab.diff
  local function answering(send)
    return function()
      if send() then
        answered(tab)
      end
    end
  end
  local function accept(remember)
    return answering(function()
      return answers.accept(diff, remember)
    end)
  end
  local list = {
    { key = 'a', text = 'accept', run = accept(false) },
    { key = 'A', text = 'remember', run = accept(true) },
    {
      key = 'r',
      text = 'reject',
      run = answering(function()
        return answers.reject(diff)
      end),
    },
    {
      key = 'R',
      text = 'say why',
      run = function()
        answers.reject_with_reason(diff, function()
          answered(tab)
        end)
      end,
    },
  }
  local item = waiting(tab)
  if not item then
    list = {}
  elseif not item.remember then
    table.remove(list, 2)
  end
  list[#list + 1] = {
    key = 'q',
    text = 'close',
    run = function()
      close(tab)
    end,
  }
  return list
end

---@param tab eca.DiffTab
---@return string left, string right
local function captions(tab)
  local diff = tab.diff
  local name = require('eca.paths').short(diff.path)
  if diff.captions then
    return ('%s  %s'):format(name, diff.captions[1]), diff.captions[2]
  end
  local remarks = diff_sides.remarks(diff)
  if diff.fault then
    return name .. '  now', diff.fault .. remarks
  elseif not diff.pending then
    return name .. '  before', 'after' .. remarks
  end
  return name .. '  now', (PROPOSED[diff.kind] or 'proposed') .. remarks
end

--- The keys as a winbar tells them: with their meaning where there is room, or not at all.
---@param list eca.DiffAction[]
---@param room integer cells
---@return string
local function keys_text(list, room)
  local long, short, long_cells, short_cells = {}, {}, 0, 0
  for index, action in ipairs(list) do
    long[index] = ('%%#EcaKey#%s%%* %s'):format(action.key, action.text)
    short[index] = ('%%#EcaKey#%s%%*'):format(action.key)
    long_cells = long_cells + #action.key + 1 + #action.text + 2
    short_cells = short_cells + #action.key + 1
  end
  if long_cells <= room then
    return table.concat(long, '  ')
  end
  return short_cells <= room and table.concat(short, ' ') or ''
end

---@param tab eca.DiffTab
local function draw_winbars(tab)
  local escape = require('eca.winbar').escape
  local texts = { captions(tab) }
  for place, win in ipairs(tab.wins) do
    if vim.api.nvim_win_is_valid(win) then
      local text = escape(texts[place])
      local wrong = tab.diff.fault and place == 2
      local bound = vim.api.nvim_win_get_buf(win) == tab.sides.bound
      local list = bound and vim.list_extend(actions(tab), { NEXT }) or { NEXT }
      local room = vim.api.nvim_win_get_width(win) - vim.fn.strdisplaywidth(texts[place]) - 3
      room = math.max(room, bound and LEAST_KEYS or 0)
      local caption = ('%%#%s#%s%%*'):format(wrong and 'EcaError' or 'EcaWinbarTitle', text)
      vim.wo[win][0].winbar = (' %%<%s%%= %s '):format(caption, keys_text(list, room))
    end
  end
end

---@param tab eca.DiffTab
local function bind(tab)
  for _, key in ipairs({ 'a', 'A', 'r', 'R', 'q' }) do
    pcall(vim.keymap.del, 'n', key, { buffer = tab.sides.bound })
  end
  for _, action in ipairs(actions(tab)) do
    local options = { buffer = tab.sides.bound, nowait = true, silent = true }
    vim.keymap.set('n', action.key, action.run, options)
  end
end

---@param tab eca.DiffTab
local function watch(tab)
  tab.group = vim.api.nvim_create_augroup('eca.diff.' .. tab.tab, { clear = true })
  vim.api.nvim_create_autocmd('WinClosed', {
    group = tab.group,
    callback = function(event)
      if vim.list_contains(tab.wins, tonumber(event.match)) then
        forget(tab)
        vim.schedule(function()
          close(tab)
        end)
      end
    end,
  })
  vim.api.nvim_create_autocmd('WinResized', {
    group = tab.group,
    callback = function()
      draw_winbars(tab)
    end,
  })
end

--- Begin to compare, at the first change.
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
---@return eca.DiffTab
local function open(diff)
  local origin = vim.api.nvim_get_current_tabpage()
  vim.cmd.stopinsert()
  vim.cmd.tabnew()
  vim.bo.bufhidden = 'wipe'
  local left = vim.api.nvim_get_current_win()
  local sides = diff_sides.make(diff)
  vim.api.nvim_win_set_buf(left, sides.left)
  local right = vim.api.nvim_open_win(sides.right, true, { split = 'right', win = left })
  local tab = vim.api.nvim_get_current_tabpage()
  return { diff = diff, sides = sides, tab = tab, origin = origin, wins = { left, right } }
end

--- Show a tool call's change; the tab page it has already is entered when it shows the same.
---@param diff eca.Diff
function M.show(diff)
  local known = tabs[key_of(diff)]
  if known and valid(known) and vim.deep_equal(known.diff, diff) then
    vim.api.nvim_set_current_tabpage(known.tab)
    return
  elseif known then
    close(known)
  end
  local tab = open(diff)
  tabs[key_of(diff)] = tab
  watch(tab)
  bind(tab)
  vim.api.nvim_set_current_win(tab.wins[tab.sides.bound == tab.sides.left and 1 or 2])
  if not diff.fault then
    compare(tab)
  end
  draw_winbars(tab)
end

--- Does this tab page show the change that waits? Then nothing else needs to ask.
---@param item { chat: string, id: string }
---@return boolean
function M.shown(item)
  local tab = tabs[key_of(item)]
  return tab ~= nil and tab.tab == vim.api.nvim_get_current_tabpage()
end

--- What waits has changed: keys that answer nothing any more go.
function M.update()
  for _, tab in pairs(tabs) do
    bind(tab)
    draw_winbars(tab)
  end
end

return M
