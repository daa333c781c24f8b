--- The option `follow`: the file that the agent changes, in a code window, at the change.
---
--- Rules kept here:
--- - Nothing is taken from the user: not the window he is in, no window of a chat, none that keeps
---   its buffer, and none whose unsaved text would have to go.
--- - Only the chat that is shown is followed, and only the last of many changes at once.
--- - Lines that were changed are marked until the next turn, or until the file is edited.
local paths = require('eca.paths')

local M = {}

local namespace = vim.api.nvim_create_namespace('eca.onlooker')

--- Milliseconds in which changes count as one; a changed file has been read again by then.
local PAUSE = 120

---@class eca.Sight
---@field chat string
---@field path string
---@field places [integer, integer][] first line (1-based) and count
---@field done boolean

local latest ---@type eca.Sight?
local timer ---@type uv.uv_timer_t?
local marked = {} ---@type table<integer, true> buffers

---@param buf integer
local function clear(buf)
  marked[buf] = nil
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  end
end

---@param win integer
---@return boolean
local function is_code(win)
  local buf = vim.api.nvim_win_get_buf(win)
  local floating = vim.api.nvim_win_get_config(win).relative ~= ''
  local plain = vim.bo[buf].buftype == '' and not vim.wo[win].winfixbuf
  return plain and not floating and not vim.wo[win].diff and not vim.wo[win].previewwindow
end

--- May a window show another buffer without anything being lost or asked?
---@param win integer
---@return boolean
local function may_change(win)
  local buf = vim.api.nvim_win_get_buf(win)
  local stays = vim.o.hidden or #vim.fn.win_findbuf(buf) > 1
  return stays or not vim.bo[buf].modified
end

--- The window for a file: one that shows it, else the last one the user was in that may; a new one
--- when the chat is all there is. Nil when there is none to take.
---@param buf integer
---@return integer? win
local function window_for(buf)
  local here, shown = vim.api.nvim_get_current_win(), nil
  local candidates = vim.api.nvim_tabpage_list_wins(0)
  local wins = vim.tbl_filter(is_code, candidates)
  table.insert(wins, 1, vim.fn.win_getid(vim.fn.winnr('#')))
  for _, win in ipairs(wins) do
    local usable = win ~= 0 and is_code(win)
    if usable and vim.api.nvim_win_get_buf(win) == buf then
      return win
    elseif usable and win ~= here and may_change(win) then
      shown = shown or win
    end
  end
  if shown or vim.tbl_contains(vim.tbl_map(is_code, candidates), true) then
    return shown
  end
  return vim.api.nvim_open_win(buf, false, { split = 'left', win = -1 })
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

--- Let the marks go with the first edit of the user.
---@param buf integer
local function watch(buf)
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI' }, {
    group = vim.api.nvim_create_augroup('eca.onlooker.' .. buf, { clear = true }),
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
local function look(win, buf, line)
  if vim.api.nvim_win_get_buf(win) ~= buf then
    vim.api.nvim_win_set_buf(win, buf)
    vim.wo[win][0].winfixbuf = false
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

---@param sight eca.Sight
local function show(sight)
  if sight.chat ~= require('eca.windows').chat_shown() or not vim.uv.fs_stat(sight.path) then
    return
  end
  local buf = paths.load(sight.path)
  local win = window_for(buf)
  if not win then
    return
  end
  vim.bo[buf].buflisted = true
  local first = sight.places[1]
  look(win, buf, first and first[1] or 1)
  if sight.done then
    mark(buf, sight.places)
    watch(buf)
  end
end

local function show_latest()
  local sight = latest
  latest = nil
  local worked, fault = pcall(show, assert(sight))
  if not worked then -- the command-line window and its like: what follows is seen again
    require('eca.log').write(('cannot follow to %s: %s'):format(sight.path, fault))
  end
end

--- A tool is about to change lines of a file, or has (op `place`).
---@param chat string
---@param path string
---@param places [integer, integer][]
---@param done boolean
function M.show(chat, path, places, done)
  if not require('eca.config').get().follow then
    return
  end
  timer = timer or assert(vim.uv.new_timer())
  if not latest then
    timer:start(PAUSE, 0, vim.schedule_wrap(show_latest))
  end
  latest = { chat = chat, path = path, places = places, done = done }
end

vim.api.nvim_create_autocmd('User', {
  group = vim.api.nvim_create_augroup('eca.onlooker', {}),
  pattern = 'EcaTurnStarted',
  callback = function()
    vim.tbl_map(clear, vim.tbl_keys(marked))
  end,
})

return M
