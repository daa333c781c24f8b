--- The float that asks for the user's word, over the corner of the chat.
---
--- Rules kept here:
--- - It appears without taking focus and without changing the mode, in the tab page the user is in.
--- - A key pressed within the guard time of its appearance does not answer: the hand that pressed
---   it meant something else.
--- - It shows text of the agent as lines of a buffer, never as a title, a format or a command.
local M = {}

local MOST_ROWS = 16
local MOST_COLUMNS = 84

---@class eca.PromptContent
---@field key string what is asked; another key is another question
---@field chat string
---@field title string one line of our own words
---@field lines string[]
---@field marks eca.Mark[] of `lines`
---@field footer eca.Segment[] the keys
---@field keys table<string, fun()> what answers

---@alias eca.Mark [integer, integer, integer, string] row, first and last byte column, group
---@alias eca.Segment [string, string] text and highlight group

---@class eca.PromptFloat
---@field win integer
---@field buf integer
---@field content eca.PromptContent
---@field shown integer when it appeared, in ns

local namespace = vim.api.nvim_create_namespace('eca.prompt')

local shown = nil ---@type eca.PromptFloat?

---@param content eca.PromptContent
---@return integer? window of the chat in this tab page
local function chat_window(content)
  local chat = require('eca.chats').get(content.chat)
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if chat and vim.api.nvim_win_get_buf(win) == chat.buf then
      return win
    end
  end
  return nil
end

---@param lines string[]
---@param columns integer
---@return integer
local function rows_of(lines, columns)
  local rows = 0
  for _, line in ipairs(lines) do
    rows = rows + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / columns))
    if rows >= MOST_ROWS then
      return MOST_ROWS
    end
  end
  return math.max(rows, 1)
end

---@param content eca.PromptContent
---@return integer
local function wanted_columns(content)
  local footer = 2
  for _, segment in ipairs(content.footer) do
    footer = footer + vim.fn.strdisplaywidth(segment[1])
  end
  local widest = math.max(footer, vim.fn.strdisplaywidth(content.title) + 2)
  for _, line in ipairs(content.lines) do
    widest = math.max(widest, vim.fn.strdisplaywidth(line) + 1)
  end
  return widest
end

--- Where the float goes: the lower right corner of the chat, or of the screen without one.
---@param content eca.PromptContent
---@return vim.api.keyset.win_config
local function place(content)
  local win = chat_window(content)
  local room_columns = win and vim.api.nvim_win_get_width(win) or vim.o.columns
  local room_rows = win and vim.api.nvim_win_get_height(win) or vim.o.lines - vim.o.cmdheight - 1
  local columns = math.max(20, math.min(wanted_columns(content), room_columns - 2, MOST_COLUMNS))
  return {
    relative = win and 'win' or 'editor',
    win = win,
    anchor = 'SE',
    row = room_rows,
    col = room_columns,
    width = columns,
    height = math.max(1, math.min(rows_of(content.lines, columns), room_rows - 2)),
    border = 'rounded',
    title = { { ' ' .. content.title .. ' ', 'EcaFloatTitle' } },
    footer = content.footer,
    style = 'minimal',
    zindex = 60,
  }
end

--- Give a key its meaning while the float has the cursor.
---@param float eca.PromptFloat
---@param key string
---@param answer fun()
local function bind(float, key, answer)
  vim.keymap.set('n', key, function()
    local guard = require('eca.config').get().approval.guard
    if (vim.uv.hrtime() - float.shown) / 1e6 >= guard then
      answer()
    end
  end, { buffer = float.buf, nowait = true, silent = true })
end

---@param content eca.PromptContent
---@return integer buf
local function write(content)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, content.lines)
  for _, mark in ipairs(content.marks) do
    local last = mark[3] < 0 and #content.lines[mark[1] + 1] or mark[3]
    vim.api.nvim_buf_set_extmark(buf, namespace, mark[1], mark[2], {
      end_col = last,
      hl_group = mark[4],
      hl_eol = true,
      strict = false,
    })
  end
  vim.bo[buf].modifiable = false
  vim.bo[buf].filetype = 'eca-prompt'
  return buf
end

---@param content eca.PromptContent
local function open(content)
  local buf = write(content)
  local config = place(content)
  config.noautocmd = true
  local win = vim.api.nvim_open_win(buf, false, config)
  vim.wo[win][0].winhighlight = 'NormalFloat:EcaFloat,FloatBorder:EcaFloatBorder'
  vim.wo[win][0].wrap = true
  vim.wo[win][0].cursorline = false
  shown = { win = win, buf = buf, content = content, shown = vim.uv.hrtime() }
  for key, answer in pairs(content.keys) do
    bind(shown, key, answer)
  end
end

--- Is the float there, and is it the one the cursor is in?
---@return boolean visible, boolean focused
function M.state()
  local visible = shown ~= nil and vim.api.nvim_win_is_valid(shown.win)
  return visible, visible and shown ~= nil and vim.api.nvim_get_current_win() == shown.win
end

--- Take the float away; the cursor goes back to where it came from.
function M.close()
  local visible, focused = M.state()
  if visible and shown then
    if focused then
      vim.cmd.wincmd('p')
    end
    vim.api.nvim_win_close(shown.win, true)
  end
  shown = nil
end

--- Show a question. The one that is shown already stays as it is, its keys guarded as before.
---@param content eca.PromptContent
function M.show(content)
  local visible, focused = M.state()
  if visible and shown and vim.deep_equal(shown.content.key, content.key) then
    shown.content = content
    vim.api.nvim_win_set_config(shown.win, place(content))
    return
  end
  M.close()
  open(content)
  if focused then
    M.focus()
  end
end

--- Put the float where it belongs now: windows were resized, or another tab page entered.
function M.replace()
  if not shown then
    return
  end
  local content = shown.content
  if vim.api.nvim_win_is_valid(shown.win) then
    if vim.api.nvim_win_get_tabpage(shown.win) == vim.api.nvim_get_current_tabpage() then
      vim.api.nvim_win_set_config(shown.win, place(content))
      return
    end
    vim.api.nvim_win_close(shown.win, true)
  end
  open(content)
end

--- Go into the float; false when there is none.
---@return boolean
function M.focus()
  local visible = M.state()
  if visible and shown then
    vim.api.nvim_set_current_win(shown.win)
  end
  return visible
end

return M
