--- The keys of panels: those of the row under the cursor, in the winbar and in `g?`, and what they
--- do.
---
--- Rules kept here:
--- - The first action of a row is done by <CR>; each has a key of its own, too. A key that the user
---   has mapped in the buffer, as by an autocommand for the file type, stays theirs.
--- - The winbar names at most four keys. `g?` lists all.
--- - What cannot be undone is asked about first. A key does nothing within the guard time after the
---   row under the cursor has gone: it was meant for that.
local abilities = require('eca.state.abilities')
local choose = require('eca.ui.choose')
local files = require('eca.files')
local footer = require('eca.ui.footer')
local guard = require('eca.consent.guard')
local host = require('eca.host')
local names = require('eca.state.panel_names')
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')
local return_window = require('eca.ui.return_window')
local sanitize = require('eca.ui.sanitize')
local ui_keys = require('eca.ui.keys')

local M = {}

---@class eca.PanelAsk
---@field name string
---@field question string
---@field choices string[] empty: a line is typed

---@class eca.PanelAction
---@field name string
---@field key string
---@field text string
---@field asks eca.PanelAsk[]
---@field everywhere boolean
---@field sure string the question before it, '' for none
---@field answers boolean it answers the request that the float shows

local IN_WINBAR = 3 -- besides `g?`

--- The row under the cursor.
---@param panel eca.ShownPanel
---@return eca.PanelRow?
local function row_of(panel)
  local win = vim.fn.win_findbuf(panel.buf)[1]
  if vim.api.nvim_get_current_buf() == panel.buf then
    win = vim.api.nvim_get_current_win()
  end
  return win and panel.rows[vim.api.nvim_win_get_cursor(win)[1]]
end

--- The actions on a row, its first one first, then those that need none.
---@param panel eca.ShownPanel
---@param row? eca.PanelRow
---@return eca.PanelAction[]
local function actions_on(panel, row)
  local by_name, found = {}, {} ---@type table<string, eca.PanelAction>, eca.PanelAction[]
  for _, action in ipairs(panel.actions) do
    by_name[action.name] = action
  end
  for _, name in ipairs(row and row.actions or {}) do
    found[#found + 1] = by_name[name]
  end
  for _, action in ipairs(panel.actions) do
    if action.everywhere and not vim.list_contains(found, action) then
      found[#found + 1] = action
    end
  end
  return found
end

---@class eca.PanelAnswer what is shown next
---@field open? string a path
---@field line? integer
---@field chat? string
---@field new? string a server, for a new chat; '': that of chats to come
---@field server? string that of chats to come from now on
---@field row? string one whose answer the cursor goes to, once it is there

--- Show what the host answers.
---@param panel eca.ShownPanel
---@param answer? eca.PanelAnswer
---@param asked eca.Asked
local function follow(panel, answer, asked)
  if not answer then
    return
  end
  if answer.chat and return_window.may_focus(asked, 'the chat') then
    require('eca.chat.open').chat(answer.chat)
  elseif answer.new and return_window.may_focus(asked, 'the new chat') then
    local server = answer.new ~= '' and answer.new or nil
    require('eca.chat.open').chat(require('eca.chat.buffers').new(), nil, true, server)
  elseif answer.row then
    panel.aim = answer.row
  elseif answer.server then
    vim.cmd.Eca({ args = { 'server', answer.server } })
  elseif answer.open and return_window.may_focus(asked, 'the file') then
    require('eca.window.to_code').enter()
    local fault = files.show(answer.open)
    if fault then
      notify.warn(fault)
    elseif answer.line then
      local last = vim.api.nvim_buf_line_count(0)
      vim.api.nvim_win_set_cursor(0, { math.max(1, math.min(answer.line, last)), 0 })
    end
  end
end

--- Ask for what an action needs, one after the other.
---@param asks eca.PanelAsk[]
---@param defaults table<string, string>
---@param values table<string, string> what was answered
---@param go_on fun(values: table<string, string>) not called if the user gives up
local function ask(asks, defaults, values, go_on)
  local next_ask = asks[vim.tbl_count(values) + 1]
  if not next_ask then
    go_on(values)
    return
  end
  local function answered(text)
    if text then
      values[next_ask.name] = text
      ask(asks, defaults, values, go_on)
    end
  end
  if #next_ask.choices > 0 then
    choose.one(next_ask.question, next_ask.choices, tostring, answered)
  else
    local options = { prompt = next_ask.question .. ' ', default = defaults[next_ask.name] }
    choose.line(options, answered)
  end
end

--- Do an action on a row.
---@param panel eca.ShownPanel
---@param action eca.PanelAction
---@param row? eca.PanelRow
local function act(panel, action, row)
  local function send(values)
    local asked = return_window.asked()
    local payload = { panel = panel.name, action = action.name, values = values }
    payload.row = row and row.id
    host.ask('act_in_panel', payload, function(answer)
      follow(panel, answer, asked)
    end)
  end
  local function go_on()
    ask(action.asks, row and row.values or {}, {}, send)
  end
  if action.answers then
    require('eca.approval').press(action.key, row and row.chat)
  elseif action.sure == '' then
    go_on()
  else
    local name = sanitize.line(row and row.values.name or '')
    choose.sure(action.text, (action.sure:gsub('{}', (name:gsub('%%', '%%%%')))), go_on)
  end
end

--- What a key does: its action on the row under the cursor, or a line that it has none there.
---@param panel eca.ShownPanel
---@param key string
local function press(panel, key)
  local row = row_of(panel)
  local is_guarded = row and row.id == panel.guarded and not guard.is_over(panel.guard)
  local has_just_come = panel.places ~= nil or is_guarded -- half drawn: the cursor is not put back
  for index, action in ipairs(actions_on(panel, row)) do
    local is_first = index == 1 and row and row.actions[1] == action.name
    if action.key == key or key == '<CR>' and is_first then
      if has_just_come and not action.everywhere then
        notify.info('another row has just come here: press the key again')
      else
        act(panel, action, row)
      end
      return
    end
  end
  local lacks ---@type string? an action may have the name of what not every server can do
  for _, action in ipairs(row and row.chat and panel.actions or {}) do
    lacks = lacks or action.key == key and abilities.fault(row.chat, action.name) or nil
  end
  notify.info(lacks or key .. ' does nothing on this row: g? lists its keys')
end

--- Show another panel in this window.
---@param panel eca.ShownPanel
---@param step 1|-1
local function go_on(panel, step)
  for index, each in ipairs(names) do
    if each[1] == panel.name then
      panel.open(names[(index - 1 + step) % #names + 1][1])
      return
    end
  end
end

--- Keys of all panels, besides those of their actions.
---@type table<string, [string, fun(panel: eca.ShownPanel)]>
local OWN = {
  q = {
    'close the panel',
    function(panel)
      panel.close()
    end,
  },
  ['<Tab>'] = {
    'next panel',
    function(panel)
      go_on(panel, 1)
    end,
  },
  ['<S-Tab>'] = {
    'previous panel',
    function(panel)
      go_on(panel, -1)
    end,
  },
  ga = {
    'choose what to do',
    function()
      vim.cmd.Eca()
    end,
  },
  ['g?'] = {
    'list the keys',
    function(panel)
      M.help(panel)
    end,
  },
}

--- List all keys of a panel.
---@param panel eca.ShownPanel
function M.help(panel)
  local row = row_of(panel)
  local here, elsewhere, own = {}, {}, {} ---@type eca.KeyRow[], eca.KeyRow[], eca.KeyRow[]
  for index, action in ipairs(actions_on(panel, row)) do
    local first = index == 1 and row and row.actions[1] == action.name
    here[#here + 1] = { (first and '<CR> ' or '') .. action.key, action.text }
  end
  for _, action in ipairs(panel.actions) do
    if not vim.list_contains(actions_on(panel, row), action) then
      elsewhere[#elsewhere + 1] = { action.key, action.text }
    end
  end
  for key, each in pairs(OWN) do
    own[#own + 1] = { key, each[1] }
  end
  for _, mapping in ipairs(vim.api.nvim_buf_get_keymap(panel.buf, 'n')) do
    if vim.startswith(mapping.rhs or '', '<Plug>(Eca') then
      own[#own + 1] = { ui_keys.spell(mapping.lhs), (mapping.desc:gsub('^eca: ', '')) }
    end
  end
  table.sort(own, function(left, right)
    return left[1] < right[1]
  end)
  ui_keys.show({
    { title = 'on this row', rows = here },
    { title = 'on other rows', rows = elsewhere },
    { title = 'in all panels', rows = own },
  })
end

---@class eca.AskedRows what the user is asked about, 0-based
---@field start_row integer
---@field end_row integer

--- Put the cursor on the row that a panel was opened for, then on that with the keys that answer;
--- not if the user has moved it.
---@param panel eca.ShownPanel
---@return eca.AskedRows? asked if the keys that answer have come
function M.aim(panel)
  local win = panel.aim and vim.fn.win_findbuf(panel.buf)[1]
  local at = win and panel.rows[vim.api.nvim_win_get_cursor(win)[1]]
  if not at then
    return
  elseif at ~= panel.rows[1] and at.id ~= panel.aim then
    panel.aim = nil
    return
  end
  local first = 1
  for index, row in ipairs(panel.rows) do
    first = row.id == panel.aim and index or first
    local is_answer = vim.startswith(row.id, panel.aim .. '\nyes ')
    if is_answer then
      panel.aim, panel.guard, panel.guarded = nil, guard.begin(), row.id
    end
    if is_answer or row.id == panel.aim then
      vim.api.nvim_win_set_cursor(win, { index, 0 })
    end
    if is_answer then
      vim.cmd.redraw() -- else 'statuscolumn' has no width after other rows, and heights are wrong
      return { start_row = first - 1, end_row = index - 1 }
    end
  end
end

--- Map a key of a panel, unless the user has mapped it.
---@param panel eca.ShownPanel
---@param key string
---@param text string
---@param run fun()
local function map(panel, key, text, run)
  for _, mapping in ipairs(vim.api.nvim_buf_get_keymap(panel.buf, 'n')) do
    if ui_keys.spell(mapping.lhs) == key then
      return
    end
  end
  local options = { buffer = panel.buf, nowait = true, desc = 'eca: ' .. text }
  vim.keymap.set('n', key, run, options)
end

--- Map the keys that all panels have: a panel that is not filled yet can be closed.
---@param panel eca.ShownPanel
function M.attach(panel)
  for key, each in pairs(OWN) do
    map(panel, key, each[1], function()
      each[2](panel)
    end)
  end
  for _, key in ipairs({ '<CR>', '<2-LeftMouse>' }) do
    map(panel, key, 'the first action of the row', function()
      press(panel, '<CR>')
    end)
  end
end

--- Map the keys of a panel's actions.
---@param panel eca.ShownPanel
function M.attach_actions(panel)
  for _, action in ipairs(panel.actions) do
    map(panel, action.key, action.text, function()
      press(panel, action.key)
    end)
  end
end

--- The keys that the winbar names.
---@param panel eca.ShownPanel
---@return eca.FooterKey[]
local function named(panel)
  local row, listed = row_of(panel), {} ---@type eca.PanelRow?, eca.FooterKey[]
  for index, action in ipairs(actions_on(panel, row)) do
    if index <= IN_WINBAR then
      local is_first = index == 1 and row and row.actions[1] == action.name
      listed[index] = { is_first and '<CR>' or action.key, action.text }
    end
  end
  listed[#listed + 1] = footer.LISTED
  return listed
end

--- Draw the winbars of a panel.
---@param panel eca.ShownPanel
function M.refresh(panel)
  for _, win in ipairs(vim.fn.win_findbuf(panel.buf)) do
    local title = ' ' .. sanitize.line(panel.title) .. ' '
    local room = vim.api.nvim_win_get_width(win) - vim.api.nvim_strwidth(title) - 1
    local text = '%#EcaWinbarTitle#' .. sanitize.statusline(title) .. '%<%#EcaWinbar#%='
    for _, segment in ipairs(footer.of(named(panel), room)) do
      text = ('%s%%#%s#%s'):format(text, segment[2], sanitize.statusline(segment[1]))
    end
    others.set_winbar(win, text .. ' ')
  end
end

return M
