--- A float in the middle of the screen to read a text in; `q`, `<Esc>` or leaving it closes it.
---
--- Rules kept here:
--- - All of its text is visible if the screen has room: long lines wrap. If it has none, the border
---   says how many rows follow.
--- - The panel makes the margin, so that all have the same.
--- - The border lists its keys, so that no text hides them. They do nothing within the guard time:
---   a key pressed then was meant for something else.
local consent_window = require('eca.consent.window')
local display_width = require('eca.ui.display_width')
local footer = require('eca.ui.footer')
local guard = require('eca.consent.guard')
local others = require('eca.ui.others')
local return_window = require('eca.ui.return_window')
local seen_rows = require('eca.consent.seen_rows')

local M = {}

local namespace = vim.api.nvim_create_namespace('eca.ui.panel')

---@class eca.Panel
---@field title string one line, our own text
---@field rows eca.Segment[][] a list a line
---@field key? string another key that closes it
---@field keys? eca.FooterKey[] listed in the border
---@field actions? table<string, fun()> by key
---@field row? integer where the cursor begins, default: 1
---@field unread? fun(rows: integer) called by an action while rows below were never on the screen
---@field origin? eca.Origin where closing it returns to, default: where the user is

---@class eca.PanelText
---@field lines string[]
---@field marks eca.Mark[]

---@class eca.PanelHandle
---@field close fun()
---@field write fun(rows: eca.Segment[][])

--- The lines that segments make, and the colours of these.
---@param rows eca.Segment[][] a list a line
---@return eca.PanelText
function M.text(rows)
  local text = { lines = {}, marks = {} } ---@type eca.PanelText
  for row, segments in ipairs(rows) do
    local line = ''
    for _, segment in ipairs(segments) do
      if segment[2] ~= '' then
        text.marks[#text.marks + 1] = { row - 1, #line, #line + #segment[1], segment[2] }
      end
      line = line .. segment[1]
    end
    text.lines[row] = line
  end
  return text
end

--- The window configuration for a buffer, which takes so many rows.
---@param panel eca.Panel
---@param buf integer
---@param rows integer
---@return vim.api.keyset.win_config
local function place(panel, buf, rows)
  local keys = footer.width(footer.of(panel.keys or {}))
  local widest = math.max(vim.fn.strdisplaywidth(panel.title), keys)
  for _, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, false)) do
    widest = math.max(widest, vim.fn.strdisplaywidth(line))
  end
  local width = math.min(widest + 2, vim.o.columns - 4)
  local height = math.max(1, math.min(rows, vim.o.lines - 6))
  return {
    relative = 'editor',
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.floor((vim.o.columns - width) / 2),
    width = width,
    height = height,
    border = 'rounded',
    title = (' %s '):format(display_width.cut(panel.title, width - 2)),
    title_pos = 'center',
    zindex = 60,
  }
end

---@param win integer
---@param panel eca.Panel
local function fit(win, panel)
  local buf = vim.api.nvim_win_get_buf(win)
  vim.api.nvim_win_set_config(win, place(panel, buf, vim.api.nvim_buf_line_count(buf)))
  local rows = vim.api.nvim_win_text_height(win, {}).all
  vim.api.nvim_win_set_config(win, place(panel, buf, rows))
  if rows <= vim.api.nvim_win_get_height(win) then
    vim.api.nvim_win_call(win, function()
      vim.fn.winrestview({ topline = 1 }) -- it scrolled while it was too small
    end)
  end
end

---@param buf integer
---@param rows eca.Segment[][]
local function write(buf, rows)
  local text = M.text(rows)
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, text.lines)
  vim.bo[buf].modifiable = false
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  for _, mark in ipairs(text.marks) do
    vim.api.nvim_buf_set_extmark(buf, namespace, mark[1], mark[2], {
      end_col = mark[3],
      hl_group = mark[4],
    })
  end
end

---@param buf integer
---@param panel eca.Panel
---@return integer win
local function open(buf, panel)
  vim.cmd.stopinsert()
  local config = place(panel, buf, #panel.rows)
  config.style = 'minimal' -- only once: Neovim 0.10 takes the margin away with it
  local win = others.open_win(buf, true, config)
  consent_window.set(win, {
    winhighlight = 'NormalFloat:EcaFloat,FloatBorder:EcaFloatBorder,FoldColumn:EcaFloat',
    foldcolumn = '1', -- a margin
    linebreak = true,
    breakindent = true,
    breakindentopt = 'shift:4',
    winbar = '', -- it would take a row
  })
  fit(win, panel)
  return win
end

--- List the keys in the border, and how many rows follow.
---@param win integer
---@param panel eca.Panel
---@param unseen integer rows that were never on the screen
---@param below integer rows below the last one
local function draw_border(win, panel, unseen, below)
  local more = below > 0 and (' ↓ %d more '):format(below) or ' '
  local room = vim.api.nvim_win_get_width(win) - vim.api.nvim_strwidth(more)
  local text = vim.list_extend(footer.of(panel.keys or {}, room), { { more, 'EcaNew' } })
  if panel.unread and unseen > 0 then
    text = { { (' %d more rows, scroll to read them '):format(unseen), 'EcaWarning' } }
  elseif not panel.keys and below == 0 then
    text = {}
  end
  vim.api.nvim_win_set_config(
    win,
    #text > 0 and { footer = text, footer_pos = 'left' } or { footer = '' }
  )
end

---@param buf integer
---@param panel eca.Panel
---@param close fun()
---@param unseen fun(): integer
local function bind(buf, panel, close, unseen)
  local begun = guard.begin()
  for _, key in ipairs({ 'q', '<Esc>', panel.key }) do
    vim.keymap.set('n', key, close, { buffer = buf, nowait = true })
  end
  for key, act in pairs(panel.actions or {}) do
    vim.keymap.set('n', key, function()
      local rows = unseen()
      if panel.unread and rows > 0 then
        panel.unread(rows)
      elseif guard.is_over(begun) then
        act()
      end
    end, { buffer = buf, nowait = true })
  end
end

--- Open a panel and enter it.
---@param panel eca.Panel
---@return eca.PanelHandle
function M.show(panel)
  local buf = others.create_buf()
  vim.bo[buf].bufhidden = 'wipe'
  write(buf, panel.rows)
  local origin = panel.origin or return_window.here()
  local win = open(buf, panel)
  vim.api.nvim_win_set_cursor(win, { panel.row or 1, 0 })
  --- Close all its windows: `<C-w>T` shows the text in another one.
  local function vanish()
    for _, each in ipairs(vim.fn.win_findbuf(buf)) do
      others.call('WinClosed', others.close, each)
    end
  end
  local function close()
    if vim.api.nvim_get_current_win() == win then
      return_window.go_back(origin) -- leaving the window closes it
    end
    vanish()
  end
  local seen = seen_rows.watch(win)
  --- Note what of the text is on the screen.
  ---@return integer rows that were never on it
  local function look()
    if not vim.api.nvim_win_is_valid(win) then
      return vim.api.nvim_buf_line_count(buf) -- it is about to vanish
    end
    local unseen, below = seen()
    draw_border(win, panel, unseen, below)
    return unseen
  end
  vim.api.nvim_create_autocmd({ 'WinScrolled', 'CursorMoved' }, {
    buffer = buf,
    callback = function()
      look() -- what it returns would end the autocommand
    end,
  })
  look()
  bind(buf, panel, close, look)
  -- Not at once: a window that is closed while it is left makes Neovim 0.12 use freed memory.
  local leave = vim.schedule_wrap(vanish)
  vim.api.nvim_create_autocmd('WinLeave', { buffer = buf, once = true, callback = leave })
  return {
    close = close,
    write = function(rows)
      if not vim.api.nvim_win_is_valid(win) then
        return
      end
      write(buf, rows)
      fit(win, panel)
      look()
    end,
  }
end

return M
