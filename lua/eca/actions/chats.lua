--- Actions on whole chats: open, hide, create, choose, go to the next, rename, clear, delete, show
--- their usage.
---
--- Rules kept here: a colour of the agent is used only if the terminal can show it.
local chats = require('eca.chat.buffers')
local choose = require('eca.ui.choose')
local contexts = require('eca.actions.contexts')
local display_width = require('eca.ui.display_width')
local eca = require('eca')
local field = require('eca.input.field')
local host = require('eca.host')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local panel = require('eca.ui.panel')
local places = require('eca.context.places')
local registers = require('eca.ui.register')
local scan = require('eca.text.scan')
local servers = require('eca.actions.servers')
local windows = require('eca.window')

local M = {}

local TITLE = 50
--- The last rank of a chat's attention that needs the user.
local LEAST_URGENT = 2

--- The current chat; a message says if there is none.
---@return string?
function M.current()
  local id = windows.current_chat()
  if not id then
    notify.info('no chat yet')
  end
  return id
end

--- Go to the chat. In visual mode the next prompt names the selected lines.
function M.open()
  local first, last = places.selected_lines()
  local items = first and contexts.meant_here(first, last) or {}
  local id = eca.open()
  field.put_below(chats.get(id).input, items)
end

M.toggle, M.hide, M.new = eca.toggle, eca.hide, eca.new

--- Go to the input in insert mode.
function M.insert()
  eca.open()
  vim.cmd.startinsert({ bang = true })
end

--- Go to the input and put a register there, like |p|.
function M.put()
  local register = vim.v.register
  eca.open()
  registers.put(register)
end

--- How long ago a time was: `5s`, `3m`, `2h`, `4d`.
---@param seconds integer since the epoch
---@return string
function M.age(seconds)
  local passed = math.max(0, os.time() - seconds)
  for _, unit in ipairs({ { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' } }) do
    if passed >= unit[1] then
      return ('%d%s'):format(math.floor(passed / unit[1]), unit[2])
    end
  end
  return passed .. 's'
end

---@param id string
---@return string
local function describe(id)
  local chat = assert(chats.get(id))
  local found = chats.attention(chat)
  local title = ('chat %d %s %s'):format(chat.number, found.sign, mirror.title(id))
  local age = chat.changed and M.age(chat.changed)
  return display_width.list_row(title, TITLE, { found.word, age })
end

--- The chats that need attention first, then those that changed last.
---@return string[] ids
local function sorted()
  local ids = chats.ids()
  local place = {} ---@type table<string, integer>
  for index, id in ipairs(ids) do
    place[id] = index
  end
  table.sort(ids, function(left, right)
    local chat, beside = assert(chats.get(left)), assert(chats.get(right))
    local one, other = chats.attention(chat).rank, chats.attention(beside).rank
    if one == other then -- the later one first
      one, other = beside.changed or 0, chat.changed or 0
    end
    return one < other or one == other and place[left] < place[right]
  end)
  return ids
end

--- Choose one of the chats of this session and open it.
function M.pick()
  local ids = sorted()
  if #ids == 0 then
    return notify.info('no chat yet')
  end
  choose.one('Chats', ids, describe, function(id)
    eca.open({ chat = id })
  end)
end

--- Open the chat with a number.
---@param number integer
function M.go_to(number)
  local id = chats.numbered(number)
  if id then
    eca.open({ chat = id })
  else
    notify.warn(('no chat %d'):format(number))
  end
end

--- Go to the next or previous chat, in the order they were created.
---@param step 1|-1
function M.cycle(step)
  local ids, here = chats.ids(), windows.current_chat()
  for index, id in ipairs(ids) do
    if id == here and #ids > 1 then
      return eca.open({ chat = ids[(index - 1 + step) % #ids + 1] })
    end
  end
end

---@param id? string
---@return integer
local function rank_of(id)
  local chat = id and chats.get(id)
  return chat and chats.attention(chat).rank or math.huge
end

--- The place of the next or previous chat that needs the user, around the end: one that waits, else
--- one that has ended unseen, else that at the place.
---@param ids string[]
---@param place integer
---@param step 1|-1
---@return integer?
local function next_waiting(ids, place, step)
  for rank = 1, LEAST_URGENT do
    for offset = 1, #ids - 1 do
      local at = (place - 1 + step * offset) % #ids + 1
      if rank_of(ids[at]) == rank then
        return at
      end
    end
  end
  local at = (place - 1) % math.max(1, #ids) + 1
  return rank_of(ids[at]) <= LEAST_URGENT and at or nil
end

--- Go to the next or previous chat that needs the user. In a list of chats the cursor goes to its
--- row.
---@param step 1|-1
function M.go_to_waiting(step)
  local rows = package.loaded['eca.panels.chat_rows'] -- late: not before a panel is shown
  local listed, line
  if rows then
    listed, line = rows.listed()
  end
  local ids = listed or chats.ids()
  local is_inside = chats.of_buffer(vim.api.nvim_get_current_buf()) ~= nil
  local here = vim.fn.index(ids, windows.current_chat()) + 1
  local at = next_waiting(ids, line or is_inside and here or here - step, step)
  if not at then
    notify.info('no chat needs you')
  elseif listed then
    vim.api.nvim_win_set_cursor(0, { at, 0 })
  else
    eca.open({ chat = ids[at] })
  end
end

--- Rename the chat.
---@param title? string default: ask for it
function M.rename(title)
  local id = M.current()
  if not id then
    return
  end
  local function send(text)
    if text and text:find('%S') then
      host.send('rename', { chat = id, title = scan.trim(text) })
    end
  end
  if title then
    send(title)
  else
    choose.line({ prompt = 'Title: ', default = mirror.status(id).title }, send)
  end
end

--- Have the host do something that cannot be undone, which is asked first.
---@param verb 'Clear'|'Delete'
---@param id string
---@param sure? boolean do not ask
---@param jobs? string[] commands that end with it
local function finish(verb, id, sure, jobs)
  local function go_on()
    host.send(verb:lower(), { chat = id })
  end
  if sure then
    return go_on()
  end
  local prompt = ('%s "%s" for good?'):format(verb, mirror.title(id))
  if jobs and jobs[1] then
    prompt = ('%s It ends %s.'):format(prompt, servers.describe_jobs(jobs))
  end
  choose.sure(verb, prompt, go_on)
end

--- Remove all messages of the chat.
---@param _ nil
---@param sure? boolean do not ask
function M.clear(_, sure)
  local id = M.current()
  if id then
    finish('Clear', id, sure)
  end
end

--- Delete the chat.
---@param _ nil
---@param sure? boolean do not ask
function M.delete(_, sure)
  local id = M.current()
  if id then
    finish('Delete', id, sure, mirror.jobs(mirror.server_name(id), id))
  end
end

---@param segment eca.UsageSegment
---@return eca.Segment
local function coloured(segment)
  local text, group, color = unpack(segment)
  local shown = vim.o.termguicolors or vim.fn.has('gui_running') == 1
  if color and shown then
    group = 'eca_color_' .. color:sub(2)
    vim.api.nvim_set_hl(0, group, { fg = color })
  end
  return { text, group }
end

--- Show what fills the context window of the chat, and its cost, in a float. The host words it.
function M.usage()
  local chat = windows.current_chat()
  local rows = mirror.chat(chat).usage
  if #rows == 0 then
    return notify.info('usage of this chat is not known yet')
  end
  local segments = vim.tbl_map(function(row)
    return vim.tbl_map(coloured, row)
  end, rows)
  panel.show({ title = 'usage', rows = segments })
end

return M
