--- The option `follow`: shows the file that the agent changes in a code window, at the change.
---
--- Rules kept here:
--- - It never uses the user's current window, a window of a chat, one that must keep its buffer, or
---   one whose unsaved text would be lost.
--- - It follows only the chat that is shown, and of several changes in a short time only the last.
--- - A window that we filled shows the file under its new path when that is moved, and says when it
---   is deleted. The user's windows stay as they are.
--- - Changed lines are highlighted until the next turn, or until the user edits the file.
local code_window = require('eca.window.code_window')
local config = require('eca.config')
local files = require('eca.files')
local log = require('eca.host.log')
local notify = require('eca.ui.notify')
local paths = require('eca.files.paths')
local sanitize = require('eca.ui.sanitize')
local windows = require('eca.window')

local M = {}

local namespace = vim.api.nvim_create_namespace('eca.editor.follow_agent')
local gone_space = vim.api.nvim_create_namespace('eca.editor.follow_agent.gone')

--- Milliseconds in which only the last change is shown; a changed file has been reloaded by then.
local PAUSE_MS = 120

---@class eca.FollowedChange
---@field chat string
---@field path string
---@field places [integer, integer][] first line (1-based) and count
---@field done boolean false: the tool is about to change it

---@class eca.Move
---@field chat string
---@field from string
---@field to string

local latest ---@type eca.FollowedChange?
local moves = {} ---@type eca.Move[]
local timer ---@type uv.uv_timer_t?
local marked = {} ---@type table<integer, true> buffers
local filled = {} ---@type table<integer, integer> the buffer that we have put into a window

---@param buf integer
local function clear(buf)
  marked[buf] = nil
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  end
end

--- Does a window show the buffer that we have put into it?
---@param win integer
---@return boolean
local function is_ours(win)
  return vim.api.nvim_win_is_valid(win) and filled[win] == vim.api.nvim_win_get_buf(win)
end

---@param win integer
---@return boolean
local function is_code(win)
  return code_window.is_code(win) and not vim.wo[win].diff and not vim.wo[win].previewwindow
end

--- The window for a file: one that shows it, else one that we filled, else the last used one that
--- can change its buffer, else a new one if there are only windows of the chat.
---@param buf integer
---@return integer? win nil: there are code windows, but none can be used
local function window_for(buf)
  local here, free = vim.api.nvim_get_current_win(), {} ---@type integer, integer[]
  local candidates = vim.api.nvim_tabpage_list_wins(0)
  local wins = vim.tbl_filter(is_code, candidates)
  table.insert(wins, 1, vim.fn.win_getid(vim.fn.winnr('#')))
  for _, win in ipairs(wins) do
    local usable = is_code(win)
    local shown = usable and vim.api.nvim_win_get_buf(win)
    if shown == buf then
      return win
    elseif shown and win ~= here then
      -- It can show another buffer without losing text or asking.
      local stays = vim.o.hidden or #vim.fn.win_findbuf(shown) > 1
      free[#free + 1] = (stays or not vim.bo[shown].modified) and win or nil
    end
  end
  if #free > 0 or vim.tbl_contains(vim.tbl_map(is_code, candidates), true) then
    return vim.iter(free):find(is_ours) or free[1]
  end
  local win = vim.api.nvim_open_win(buf, false, { split = 'left', win = -1 })
  filled[win] = buf
  return win
end

---@param buf integer
---@param places [integer, integer][]
local function mark(buf, places)
  clear(buf)
  local last = vim.api.nvim_buf_line_count(buf)
  for _, place in ipairs(places) do
    if place[2] > 0 and place[1] <= last then
      marked[buf] = true
      vim.api.nvim_buf_set_extmark(buf, namespace, place[1] - 1, 0, {
        end_row = math.min(place[1] - 1 + place[2], last),
        hl_group = 'EcaChanged',
        hl_eol = true,
        priority = 50,
        strict = false,
      })
    end
  end
end

--- Remove the highlights at the user's first edit.
---@param buf integer
local function watch(buf)
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI' }, {
    group = vim.api.nvim_create_augroup('eca.editor.follow_agent.' .. buf, { clear = true }),
    buffer = buf,
    callback = function()
      if vim.api.nvim_buf_get_changedtick(buf) ~= tick then
        clear(buf)
        return true
      end
    end,
  })
end

---@param win integer
---@param buf integer
---@param line integer 1-based
local function show_line(win, buf, line)
  if vim.api.nvim_win_get_buf(win) ~= buf then
    vim.api.nvim_win_set_buf(win, buf)
    filled[win] = buf
  end
  if win == vim.api.nvim_get_current_win() then
    return
  end
  local last = vim.api.nvim_buf_line_count(buf)
  vim.api.nvim_win_set_cursor(win, { math.min(math.max(line, 1), last), 0 })
  vim.api.nvim_win_call(win, function()
    vim.cmd('normal! zz')
  end)
end

---@param change eca.FollowedChange
local function show(change)
  if change.chat ~= windows.chat_shown() or not vim.uv.fs_stat(change.path) then
    return
  end
  local fault = files.refusal(change.path)
  if fault then
    notify.warn(fault)
    return
  end
  local buf = files.load(change.path)
  local win = window_for(buf)
  if not win then
    return
  end
  vim.bo[buf].buflisted = true
  local first = change.places[1]
  show_line(win, buf, first and first[1] or 1)
  if change.done then
    mark(buf, change.places)
    watch(buf)
  end
end

--- Show a moved file under its new path in the windows that we filled.
---@param move eca.Move
local function follow_move(move)
  local shown = move.chat == windows.chat_shown()
  if not shown or vim.uv.fs_stat(move.from) or not vim.uv.fs_stat(move.to) then
    return
  end
  local from = paths.normalize(move.from)
  for win, buf in pairs(filled) do
    local stays = win == vim.api.nvim_get_current_win() or not is_ours(win) or vim.bo[buf].modified
    if not stays and paths.of_buffer(buf) == from then
      show_line(win, files.load(move.to), vim.api.nvim_win_get_cursor(win)[1])
    end
  end
end

---@param path string
---@param run fun(it: any)
---@param it eca.FollowedChange|eca.Move
local function try(path, run, it)
  local worked, fault = pcall(run, it)
  if not worked then -- in the command-line window, for example; later changes are shown again
    log.write(('cannot follow to %s: %s'):format(path, fault))
  end
end

local function show_latest()
  local change, moved = latest, moves
  latest, moves = nil, {}
  for _, move in ipairs(moved) do
    try(move.to, follow_move, move)
  end
  if change then
    try(change.path, show, change)
  end
end

local function show_soon()
  timer = timer or assert(vim.uv.new_timer())
  if not timer:is_active() then
    timer:start(PAUSE_MS, 0, vim.schedule_wrap(show_latest))
  end
end

--- Called when a tool is about to change lines of a file, or has changed them (op `place`).
---@param chat string
---@param path string
---@param places [integer, integer][]
---@param done boolean
function M.show(chat, path, places, done)
  if not config.get().follow then
    return
  end
  latest = { chat = chat, path = path, places = places, done = done }
  show_soon()
end

--- Called when a tool has moved a file.
---@param chat string
---@param from string
---@param to string
function M.moved(chat, from, to)
  if next(filled) then
    moves[#moves + 1] = { chat = chat, from = from, to = to }
    show_soon()
  end
end

---@param buf integer
local function clear_gone(buf)
  vim.api.nvim_buf_clear_namespace(buf, gone_space, 0, -1)
end

--- Show in a window that we filled what happened to its missing file, until the file exists again.
---@param buf integer
---@param what? string what happened; nil: the file exists
function M.gone(buf, what)
  clear_gone(buf)
  local win = vim.iter(vim.tbl_keys(filled)):find(function(win)
    return filled[win] == buf and is_ours(win)
  end)
  if not win or not what then
    return
  end
  vim.api.nvim_buf_set_extmark(buf, gone_space, vim.api.nvim_win_get_cursor(win)[1] - 1, 0, {
    virt_text = { { (' %s '):format(sanitize.line(what)), 'EcaWarning' } },
    virt_text_pos = 'right_align',
  })
  vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost' }, {
    group = vim.api.nvim_create_augroup('eca.editor.follow_agent.gone.' .. buf, { clear = true }),
    buffer = buf,
    once = true,
    callback = function()
      clear_gone(buf)
    end,
  })
end

vim.api.nvim_create_autocmd('User', {
  group = vim.api.nvim_create_augroup('eca.editor.follow_agent', {}),
  pattern = 'EcaTurnStarted',
  callback = function()
    vim.tbl_map(clear, vim.tbl_keys(marked))
    for win in pairs(filled) do
      filled[win] = is_ours(win) and filled[win] or nil
    end
  end,
})

return M
