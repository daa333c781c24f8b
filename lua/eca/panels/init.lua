--- Panels: lists of what there is beside the text of chats, in a window below all others.
---
--- Rules kept here:
--- - A panel is a buffer that the host fills (`SetPanel`, `SetRows`). It is live while it is shown
---   in a window, and gone with its last one.
--- - A redraw changes only the rows that differ. The cursor stays on its row.
--- - What a row says is the host's: this file knows no panel but its name.
local chat_rows = require('eca.panels.chat_rows')
local chats = require('eca.chat.buffers')
local files = require('eca.files')
local guard = require('eca.consent.guard')
local highlights = require('eca.ui.highlights')
local host = require('eca.host')
local keys = require('eca.panels.keys')
local others = require('eca.ui.others')
local return_window = require('eca.ui.return_window')
local row_text = require('eca.panels.row_text')
local to_code = require('eca.window.to_code')
local windows = require('eca.window')

local M = {}

---@class eca.PanelRow
---@field id string
---@field line [string, string, integer][] text, group, and cells of a column
---@field actions string[] the first is that of <CR>
---@field values table<string, string> defaults of what an action asks for
---@field chat? string the chat that it is about
---@field server? string the server that it is about; empty for none

---@class eca.ShownPanel
---@field name string
---@field buf integer
---@field showing integer the number of the last time that it was asked for
---@field chat? string the chat from which it was opened
---@field title string
---@field actions eca.PanelAction[]
---@field rows eca.PanelRow[]
---@field places? table<integer, eca.PanelRow> where cursors were before what is being drawn
---@field was_wide? boolean it was drawn in columns
---@field origin eca.Origin
---@field guard? eca.Guard another row has come under the cursor
---@field guarded? string its id
---@field aim? string the row that it was opened for
---@field open fun(name: string) shows another panel in its place
---@field close fun() closes the window in which the user is

local LEAST_ROWS, MOST_ROWS, SHARE, ASKED_SHARE = 4, 14, 0.4, 0.75
local COLUMNS = 70 -- of a window that has room for columns
--- What a panel shows until the host has filled it.
local FIRST = '  …'

local namespace = vim.api.nvim_create_namespace('eca.panels')
local shown = {} ---@type table<string, eca.ShownPanel> by name
local showings = 0 -- so many times a panel was asked for

local OPTIONS = {
  breakindent = true,
  breakindentopt = 'shift:4',
  conceallevel = 0,
  cursorline = true,
  foldcolumn = '0',
  foldenable = false,
  linebreak = true,
  list = false,
  number = false,
  relativenumber = false,
  signcolumn = 'no',
  smoothscroll = true,
  spell = false,
  statuscolumn = ' ',
  winfixheight = true,
  winhighlight = 'WinBar:EcaWinbar,WinBarNC:EcaWinbar',
  wrap = true,
}

--- The panel that a buffer shows.
---@param buf integer
---@return eca.ShownPanel?
local function of_buffer(buf)
  for _, panel in pairs(shown) do
    if panel.buf == buf then
      return panel
    end
  end
end

--- Is a panel wide enough for columns? Where it is not, the texts of a row follow each other.
---@param buf integer
---@return boolean
local function is_wide(buf)
  local win = vim.fn.win_findbuf(buf)[1]
  return win ~= nil and vim.api.nvim_win_get_width(win) >= COLUMNS
end

---@param buf integer
---@param first integer 0-based
---@param last integer exclusive
---@param rows eca.PanelRow[]
local function write(buf, first, last, rows)
  local lines, marks = {}, {} ---@type string[], [integer, integer, string][][]
  local has_columns = is_wide(buf)
  for index, row in ipairs(rows) do
    lines[index], marks[index] = row_text.of(row, has_columns)
  end
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_clear_namespace(buf, namespace, first, last)
  vim.api.nvim_buf_set_lines(buf, first, last, false, lines)
  vim.bo[buf].modifiable = false
  for index, of_row in ipairs(marks) do
    for _, mark in ipairs(of_row) do
      vim.api.nvim_buf_set_extmark(buf, namespace, first + index - 1, mark[1], {
        end_col = mark[2],
        hl_group = mark[3],
      })
    end
  end
end

--- Where the cursors of a panel's windows are: their rows.
---@param panel eca.ShownPanel
---@return table<integer, eca.PanelRow> by window
local function places(panel)
  local found = {} ---@type table<integer, eca.PanelRow>
  for _, win in ipairs(vim.fn.win_findbuf(panel.buf)) do
    found[win] = panel.rows[vim.api.nvim_win_get_cursor(win)[1]]
  end
  return found
end

--- Move cursors back to their rows. One whose row is gone goes to the row that it was a detail of,
--- else it stays at its line: what is there now was not what the next key is meant for, unless the
--- row that is gone had none and has not just come itself.
---@param panel eca.ShownPanel
---@param before table<integer, eca.PanelRow>
local function restore(panel, before)
  for win, was in pairs(before) do
    local is_there = vim.list_contains(vim.fn.win_findbuf(panel.buf), win)
    local cursor = is_there and vim.api.nvim_win_get_cursor(win) or { 1, 0 }
    local row, line = panel.rows[cursor[1]], nil ---@type eca.PanelRow?, integer?
    if is_there and (not row or row.id ~= was.id) then
      local parent, of_parent = was.id:match('^(.*)\n'), nil ---@type string?, integer?
      for index, each in ipairs(panel.rows) do
        line = line or each.id == was.id and index or nil
        of_parent = of_parent or each.id == parent and index or nil
      end
      line = line or of_parent
      if line then
        vim.api.nvim_win_set_cursor(win, { line, cursor[2] })
      elseif was.actions and was.actions[1] or panel.guard and not guard.is_over(panel.guard) then
        panel.guard, panel.guarded = guard.begin(), row and row.id
      end
    end
  end
end

--- Is a window the only one of its tab page that is no float?
---@param win integer
---@return boolean
local function is_last(win)
  local ordinary = vim.tbl_filter(function(each)
    return vim.api.nvim_win_get_config(each).relative == ''
  end, vim.api.nvim_tabpage_list_wins(vim.api.nvim_win_get_tabpage(win)))
  return #ordinary == 1 and ordinary[1] == win
end

--- Replace rows of a list in place.
---@param list eca.PanelRow[]
---@param at integer 0-based
---@param removed integer
---@param added eca.PanelRow[]
local function splice(list, at, removed, added)
  local tail = vim.list_slice(list, at + removed + 1)
  for index = #list, at + 1, -1 do
    list[index] = nil
  end
  vim.list_extend(vim.list_extend(list, added), tail)
end

--- Give a panel's window the height that its rows need, up to a share of the screen. It only grows,
--- so that what is below the cursor does not jump, and not if the user has set another height.
---@param panel eca.ShownPanel
---@param asked? eca.AskedRows they are shown from the first one on, all if they have room
local function fit(panel, asked)
  for _, win in ipairs(vim.fn.win_findbuf(panel.buf)) do
    local height, ours = vim.api.nvim_win_get_height(win), vim.w[win].eca_panel_height
    local is_split = vim.fn.win_gettype(win) == '' and not is_last(win)
    if is_split and (ours == nil or ours == height) then
      local most = math.max(LEAST_ROWS, math.min(MOST_ROWS, math.floor(vim.o.lines * SHARE)))
      local rows = asked or { end_row = math.max(0, math.min(#panel.rows, most) - 1) }
      local needed = vim.api.nvim_win_text_height(win, rows).all
      most = asked and math.floor(vim.o.lines * ASKED_SHARE) or most
      local wanted = math.max(ours or LEAST_ROWS, math.min(most, needed + 1)) -- with the winbar
      vim.api.nvim_win_set_height(win, wanted)
      vim.w[win].eca_panel_height = vim.api.nvim_win_get_height(win)
    end
    if asked then
      vim.api.nvim_win_call(win, function()
        vim.fn.winrestview({ topline = asked.start_row + 1 })
      end)
    end
  end
end

--- The panel that an op is for; nil: it was asked for again, or closed, since.
---@param op { panel: string, showing: integer }
---@return eca.ShownPanel?
local function of_op(op)
  local panel = shown[op.panel]
  return panel and panel.showing == op.showing and panel or nil
end

--- Mark the server that answers in chats to come, if that is another one now.
function M.mark_server()
  for _, panel in pairs(row_text.answers_another() and shown or {}) do
    write(panel.buf, 0, -1, panel.rows)
  end
end

--- Draw the op `panel`.
---@param op { panel: string, showing: integer, title: string, actions: eca.PanelAction[] }
function M.set(op)
  local panel = of_op(op)
  if panel then
    panel.title = op.title
    if #panel.actions == 0 and #op.actions > 0 then
      panel.actions = op.actions
      keys.attach_actions(panel)
    end
    keys.refresh(panel)
  end
end

---@class eca.PanelRowsOp
---@field panel string
---@field showing integer
---@field at integer 0-based
---@field removed integer
---@field rows eca.PanelRow[]
---@field more boolean

--- Draw the op `panel_rows`.
---@param op eca.PanelRowsOp
function M.set_rows(op)
  local panel = of_op(op)
  if not panel then
    return
  end
  local is_first = #panel.rows == 0
  panel.places = panel.places or places(panel)
  splice(panel.rows, op.at, op.removed, op.rows)
  write(panel.buf, op.at, is_first and -1 or op.at + op.removed, op.rows)
  if not op.more then
    restore(panel, panel.places)
    panel.places = nil
  end
  panel.was_wide = is_wide(panel.buf)
  M.mark_server()
  fit(panel, not op.more and keys.aim(panel) or nil)
  keys.refresh(panel)
  chat_rows.watch(panel)
end

--- Ask the host for a panel, from its first row on.
---@param panel eca.ShownPanel
local function ask(panel)
  showings = showings + 1
  panel.rows, panel.actions, panel.places, panel.showing = {}, {}, nil, showings
  write(panel.buf, 0, -1, { { id = '', line = { { FIRST, 'EcaMuted', 0 } } } })
  local payload = { panel = panel.name, chat = panel.chat, chats = chats.ids() }
  payload.showing = panel.showing
  host.send('show_panel', payload)
end

--- Close the window of a panel in which the user is, and go back to where they were.
---@param panel eca.ShownPanel
local function close(panel)
  local win = vim.api.nvim_get_current_win()
  if is_last(win) and #vim.api.nvim_list_tabpages() == 1 then
    vim.cmd.enew() -- the last window cannot be closed
  else
    others.close(win)
  end
  return_window.go_back(panel.origin)
end

---@param name string
---@return eca.ShownPanel
local function create(name)
  local buf = others.create_buf()
  files.name(buf, 'panel/' .. name)
  vim.bo[buf].bufhidden, vim.bo[buf].modeline, vim.bo[buf].undolevels = 'wipe', false, -1
  local panel = { name = name, buf = buf, title = name, actions = {}, rows = {}, open = M.open }
  panel.showing = showings
  panel.close = function()
    close(panel)
  end
  shown[name] = panel
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    callback = function()
      shown[name] = nil
      chat_rows.forget(buf)
      host.send_if_running('close_panel', { panel = name })
    end,
  })
  vim.api.nvim_create_autocmd({ 'CursorMoved', 'WinEnter', 'WinLeave' }, {
    buffer = buf,
    callback = function()
      keys.refresh(panel)
      chat_rows.watch(panel)
    end,
  })
  return panel
end

--- Show a panel, in the window of another one if the user is in it, and enter it.
---@param name string
---@param row? string the id of a row for which it is opened
function M.open(name, row)
  highlights.setup()
  local chat, before = windows.current_chat(), of_buffer(vim.api.nvim_get_current_buf())
  local there = shown[name] and vim.fn.win_findbuf(shown[name].buf)[1]
  if there then
    others.go_to(there)
    shown[name].aim = row
    for index, each in ipairs(shown[name].rows) do
      if each.id == row then
        vim.api.nvim_win_set_cursor(there, { index, 0 })
      end
    end
    return
  end
  local panel = create(name)
  panel.aim = row
  panel.chat = before and before.chat or chat
  panel.origin = before and before.origin or return_window.here()
  to_code.uncover() -- a chat that floats would cover the panel
  local win = vim.api.nvim_get_current_win()
  if before then
    others.show(win, panel.buf)
  else
    win = others.split(panel.buf, { split = 'below', win = -1, height = LEAST_ROWS })
  end
  for option, value in pairs(OPTIONS) do
    vim.wo[win][0][option] = value
  end
  vim.cmd.stopinsert()
  others.set('FileType', panel.buf, 'filetype', 'eca-panel')
  others.announce(panel.buf, 'panel')
  keys.attach(panel)
  ask(panel)
  fit(panel)
  keys.refresh(panel)
end

vim.api.nvim_create_autocmd('WinResized', {
  group = vim.api.nvim_create_augroup('eca.panels', {}),
  callback = function()
    for _, panel in pairs(shown) do
      if #panel.rows > 0 and is_wide(panel.buf) ~= panel.was_wide then
        panel.was_wide = is_wide(panel.buf)
        write(panel.buf, 0, -1, panel.rows)
      end
      keys.refresh(panel)
    end
  end,
})

--- Have all panels filled again: by another host.
function M.host_started()
  vim.tbl_map(ask, shown)
end

--- Show that no host fills the panels.
function M.host_gone()
  for _, panel in pairs(shown) do
    panel.title = panel.name .. ': not live, the plugin host is not running'
    keys.refresh(panel)
  end
end

return M
