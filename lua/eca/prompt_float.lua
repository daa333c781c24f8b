--- The float that asks for the user's word, over the corner of the chat.
---
--- Rules kept here:
--- - It appears without taking focus and without changing the mode, in the tab page the user is in.
--- - A key pressed within the guard time of a question's appearance does not answer it: the hand
---   that pressed it meant something else.
--- - Who went into it comes back to where he was, in insert mode if that is where he came from.
--- - It shows text of the agent as lines of a buffer, never as a title, a format or a command. What
---   does not fit is counted in its title and can be scrolled to.
local footer = require('eca.footer')

local M = {}

local MOST_ROWS = 16
local MOST_COLUMNS = 84
local LEAST_COLUMNS = 20
--- A chat's window smaller than this has no corner to spare.
local LEAST_WINDOW = { columns = 40, rows = 8 }

---@class eca.PromptContent
---@field key string what is asked; another key is another question
---@field chat string
---@field title string one line of our own words
---@field rest string what to do to see all of it, in our own words
---@field lines string[]
---@field marks eca.Mark[] of `lines`
---@field footer eca.FooterKey[]
---@field keys table<string, fun()> what answers
---@field gone fun(by_user: boolean) the window was closed by somebody else

---@alias eca.Mark [integer, integer, integer, string] row, first and last byte column, group

---@class eca.PromptFloat
---@field win integer
---@field content eca.PromptContent
---@field since integer when it appeared, in ns
---@field origin? eca.Origin where the user came from

local namespace = vim.api.nvim_create_namespace('eca.prompt')
local group = vim.api.nvim_create_augroup('eca.prompt', {})

local shown = nil ---@type eca.PromptFloat?

--- The transcript in this tab page, whichever chat it shows: over it the float hides no input.
---@return integer? window when it is big enough
local function chat_window()
  local win = require('eca.windows').shown()
  if not win then
    return nil
  end
  local wide = vim.api.nvim_win_get_width(win) >= LEAST_WINDOW.columns
  return wide and vim.api.nvim_win_get_height(win) >= LEAST_WINDOW.rows and win or nil
end

---@param content eca.PromptContent
---@return integer
local function wanted_columns(content)
  local widest = math.max(
    footer.width(footer.of(content.footer)),
    vim.fn.strdisplaywidth(content.title)
  ) + 2
  for _, line in ipairs(content.lines) do
    widest = math.max(widest, vim.fn.strdisplaywidth(line) + 1)
  end
  return widest
end

--- The part of the screen whose lower right corner the float takes.
---@param win? integer
---@return integer bottom row after its last one, integer right column after its last one
---@return integer rows, integer columns
local function room(win)
  if not win then
    local rows = vim.o.lines - vim.o.cmdheight - 1
    return rows, vim.o.columns, rows, vim.o.columns
  end
  local corner = vim.api.nvim_win_get_position(win)
  local rows, columns = vim.api.nvim_win_get_height(win), vim.api.nvim_win_get_width(win)
  return corner[1] + rows, corner[2] + columns, rows, columns
end

--- Where the float goes: the lower right corner of the chat, or of the screen without one. It is
--- told in cells of the screen, so that it does not depend on a window that may be gone.
---@param content eca.PromptContent
---@return vim.api.keyset.win_config config of one row, integer rows that there is room for
local function place(content)
  local bottom, right, rows, columns = room(chat_window())
  local width =
    math.max(LEAST_COLUMNS, math.min(wanted_columns(content), columns - 2, MOST_COLUMNS))
  local config = {
    relative = 'editor',
    anchor = 'SE',
    row = bottom,
    col = right,
    width = width,
    height = 1,
    border = 'rounded',
    footer = footer.of(content.footer, width),
    zindex = 60,
  }
  return config, math.max(1, math.min(MOST_ROWS, rows - 2))
end

---@param win integer
---@return integer rows of text under the window's last one
local function rows_below(win)
  local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
  local from = { start_row = view.topline - 1, start_vcol = view.skipcol }
  return vim.api.nvim_win_text_height(win, from).all - vim.api.nvim_win_get_height(win)
end

---@param float eca.PromptFloat
local function draw_title(float)
  local more = rows_below(float.win)
  local title = float.content.title
  if more > 0 then
    title = ('%s · … %d more lines, %s'):format(title, more, float.content.rest)
  end
  vim.api.nvim_win_set_config(
    float.win,
    { title = { { (' %s '):format(title), 'EcaFloatTitle' } } }
  )
end

--- Put the float where it belongs, as high as its text but no higher than there is room.
---@param float eca.PromptFloat
local function fit(float)
  local config, most = place(float.content)
  vim.api.nvim_win_set_config(float.win, config)
  config.height = math.min(vim.api.nvim_win_text_height(float.win, {}).all, most)
  vim.api.nvim_win_set_config(float.win, config)
  draw_title(float)
  -- On the command line nothing else would draw it.
  if vim.api.nvim_get_mode().mode:find('^c') then
    vim.cmd.redraw()
  end
end

---@param buf integer
---@param answer fun()
---@param key string
local function bind(buf, key, answer)
  vim.keymap.set('n', key, function()
    local guard = require('eca.config').get().approval.guard
    if shown and (vim.uv.hrtime() - shown.since) / 1e6 >= guard then
      answer()
    end
  end, { buffer = buf, nowait = true, silent = true })
end

--- The user came into the float: remember from where. Keys answer here, they are not typed.
local function entered()
  if not shown then
    return
  end
  local mode = vim.api.nvim_get_mode().mode
  local win = vim.fn.win_getid(vim.fn.winnr('#'))
  local inserting = mode:find('^[iRt]') ~= nil or mode:find('^n[it]') ~= nil
  local cursor = vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_cursor(win) or { 1, 0 }
  shown.origin = { win = win, inserting = inserting and mode ~= 'nt', cursor = cursor }
  vim.cmd.stopinsert()
end

---@param content eca.PromptContent
---@return integer buf
local function write(content)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  local lines = vim.tbl_map(function(line)
    return (line:gsub('\n', ' '))
  end, content.lines)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  for _, mark in ipairs(content.marks) do
    local whole = mark[3] < 0
    vim.api.nvim_buf_set_extmark(buf, namespace, mark[1], mark[2], {
      end_row = whole and mark[1] + 1 or mark[1],
      end_col = whole and 0 or mark[3],
      hl_group = mark[4],
      hl_eol = whole,
      strict = false,
    })
  end
  vim.bo[buf].modifiable = false
  for key, answer in pairs(content.keys) do
    bind(buf, key, answer)
  end
  vim.api.nvim_create_autocmd('WinEnter', { buffer = buf, callback = entered })
  return buf
end

---@param win integer
local function dress(win)
  vim.wo[win][0].winhighlight = 'NormalFloat:EcaFloat,FloatBorder:EcaFloatBorder'
  vim.wo[win][0].list = true
  vim.wo[win][0].listchars = 'tab:→ ,trail:·,nbsp:␣'
  vim.wo[win][0].wrap = true
  vim.wo[win][0].linebreak = false
  vim.wo[win][0].smoothscroll = true
  vim.wo[win][0].scrolloff = 0
end

--- Somebody else closed the float's window: the user in it, or a command that closes all others.
---@param win integer
local function closed(win)
  local float = shown
  if float and float.win == win then
    shown = nil
    local by_user = vim.api.nvim_get_current_win() == win
    vim.schedule(function()
      float.content.gone(by_user)
    end)
  end
end

---@param win integer
local function watch(win)
  vim.api.nvim_clear_autocmds({ group = group })
  vim.api.nvim_create_autocmd('WinClosed', {
    group = group,
    pattern = tostring(win),
    callback = function()
      closed(win)
    end,
  })
  vim.api.nvim_create_autocmd('WinScrolled', {
    group = group,
    pattern = tostring(win),
    callback = function()
      if shown and vim.api.nvim_win_is_valid(win) then
        draw_title(shown)
      end
    end,
  })
end

---@param content eca.PromptContent
local function open(content)
  local config = place(content)
  config.noautocmd, config.style = true, 'minimal'
  local win = vim.api.nvim_open_win(write(content), false, config)
  shown = { win = win, content = content, since = vim.uv.hrtime() }
  watch(win)
  dress(win)
  fit(shown)
end

--- Show something else in the float that is there.
---@param float eca.PromptFloat
---@param content eca.PromptContent
local function replace(float, content)
  if float.content.key ~= content.key then
    float.since = vim.uv.hrtime()
  end
  float.content = content
  vim.api.nvim_win_set_buf(float.win, write(content))
  dress(float.win)
  fit(float)
end

---@param left eca.PromptContent
---@param right eca.PromptContent
---@return boolean
local function same(left, right)
  return left.key == right.key
    and left.title == right.title
    and vim.deep_equal(left.lines, right.lines)
    and vim.deep_equal(left.marks, right.marks)
    and vim.deep_equal(left.footer, right.footer)
end

--- Is the float in this tab page, and is the cursor in it?
---@return boolean visible, boolean focused
function M.state()
  if not shown or not vim.api.nvim_win_is_valid(shown.win) then
    return false, false
  end
  local here = vim.api.nvim_get_current_tabpage()
  local visible = vim.api.nvim_win_get_tabpage(shown.win) == here
  return visible, vim.api.nvim_get_current_win() == shown.win
end

--- Where the user in the float came from.
---@return eca.Origin?
function M.origin()
  return shown and select(2, M.state()) and shown.origin or nil
end

--- Take the float away; who is in it goes back to where he came from.
function M.close()
  local float = shown
  if not float then
    return
  end
  local focused = select(2, M.state())
  shown = nil
  if focused and float.origin then
    require('eca.origin').go_back(float.origin)
  end
  local worked, fault = pcall(vim.api.nvim_win_close, float.win, true)
  if not worked and vim.api.nvim_win_is_valid(float.win) then
    shown = float
    error(fault, 0)
  end
end

--- Show a question in this tab page. The one that is shown already stays as it is, its keys guarded
--- as before; another takes its place under the user's cursor, and its keys are guarded anew.
---@param content eca.PromptContent
function M.show(content)
  if shown and not M.state() then
    local since = shown.content.key == content.key and shown.since
    M.close()
    open(content)
    shown.since = since or shown.since
  elseif not shown then
    open(content)
  elseif same(shown.content, content) then
    shown.content = content
    fit(shown)
  else
    replace(shown, content)
  end
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
