--- Approval: what waits for the user's word, one at a time, in the float.
---
--- Rules kept here:
--- - The list is the host's: what is answered, stopped or gone leaves it, and so the screen. What
---   is not in the list cannot be answered.
--- - Who answers in the float stays in it for a moment; what comes next is shown there.
--- - What was answered here is not shown again while the host still has to hear of it.
--- - `q` leaves a request pending and hides it until it is called for.
--- - A request that changes is another one: it is shown again, and begins to wait again.
local alert = require('eca.approval.alert')
local answers = require('eca.input.decide')
local choices = require('eca.approval.choices')
local config = require('eca.config')
local diff = require('eca.diff')
local float = require('eca.approval.float')
local guard = require('eca.ui.guard')
local notify = require('eca.ui.notify')
local question = require('eca.approval.question')
local windows = require('eca.window')

local M = {}

---@alias eca.Aside 'left'|'answered'

local items = {} ---@type eca.Pending[]
local aside = {} ---@type table<string, eca.Aside> not shown, by key
local guards = {} ---@type table<string, eca.Guard> since it began to wait, by key
local front = nil ---@type { key?: string, guard: eca.Guard }? what is asked now
local drawing = false

---@param item eca.Request
---@return string
local function key_of(item)
  return item.id .. ' ' .. item.digest
end

--- The request whose diff is before the user, also when its float is put aside.
---@return eca.Pending?, integer
local function compared()
  for index, item in ipairs(items) do
    if aside[key_of(item)] ~= 'answered' and diff.shown(item) then
      return item, index
    end
  end
  return nil, 0
end

--- What is asked: in a diff its own request, else the first that is not put aside, of the chat in
--- this tab page or of any.
---@return eca.Pending?, integer
local function first_open()
  local seen, number = compared()
  if seen then
    return seen, number
  end
  local here = windows.chat_shown()
  local first, place = nil, 0
  for index, item in ipairs(items) do
    if not aside[key_of(item)] then
      if item.chat == here then
        return item, index
      elseif not first then
        first, place = item, index
      end
    end
  end
  return first, place
end

---@param item eca.Pending
---@param index integer
---@return string
local function title_of(item, index)
  local what = item.kind == 'question' and 'the agent asks' or 'allow this?'
  return #items > 1 and ('%s (%d/%d)'):format(what, index, #items) or what
end

local draw

---@param item eca.Request
---@param how eca.Aside
local function put_aside(item, how)
  aside[key_of(item)] = how
  draw()
end

answers.on_answered(function(item)
  float.pause()
  put_aside(item, 'answered') -- what waits next takes its place
  diff.leave(item)
end)

--- What waits for approval in a chat.
---@param chat string
---@return eca.Pending[]
local function of_chat(chat)
  return vim.tbl_filter(function(item)
    return item.kind == 'approval' and item.chat == chat and aside[key_of(item)] ~= 'answered'
  end, items)
end

--- Accept all that waits in a chat and has been there long enough to be seen.
---@param chat string
---@return integer accepted, integer left those that have only just come up
function M.accept_all(chat)
  local waiting = of_chat(chat)
  local accepted = #vim.tbl_filter(function(item)
    return M.ripe(item) and answers.accept(item)
  end, waiting)
  return accepted, #waiting - accepted
end

---@param chat string
---@return eca.Choice? all nil when only one waits
local function accepting_all(chat)
  local count = #of_chat(chat)
  if count < 2 then
    return nil
  end
  return {
    key = '*',
    text = ('all %d'):format(count),
    about = 'accept all that waits in the chat',
    run = function()
      M.accept_all(chat)
    end,
  }
end

---@param item eca.Pending
---@return eca.Choice
local function hiding(item)
  return {
    key = 'q',
    text = 'hide',
    about = 'leave it waiting and hide the float',
    run = function()
      put_aside(item, 'left')
    end,
  }
end

--- Ends a closed window's part: who closed it himself wants it hidden, others took it by accident.
---@param item eca.Pending
---@return fun(by_user: boolean)
local function gone(item)
  return function(by_user)
    if by_user then
      put_aside(item, 'left')
    else
      draw()
    end
  end
end

--- What the float shows for a request.
---@param item eca.Pending
---@param index integer
---@return eca.PromptContent
local function content_of(item, index)
  local content = item.kind == 'question' and question.content(item)
    or choices.content(item, accepting_all(item.chat))
  content.key, content.chat = key_of(item), item.chat
  content.title, content.gone = title_of(item, index), gone(item)
  table.insert(content.choices, hiding(item))
  return content --[[@as eca.PromptContent]]
end

draw = function()
  local item, index = first_open()
  local key = item and key_of(item)
  if not front or front.key ~= key then
    front = { key = key, guard = guard.begin() }
  end
  local wanted = item and config.get().approval.float
  if not item and float.is_paused() then
    return
  elseif not item or not wanted or diff.shown(item) then
    float.close()
    return
  end
  float.show(content_of(item, index))
end

local function draw_soon()
  if not drawing then
    drawing = true
    vim.schedule(function()
      drawing = false
      draw()
    end)
  end
end

local EVENTS =
  { 'BufModifiedSet', 'BufWinEnter', 'TabEnter', 'VimResized', 'WinResized', 'WinNew', 'WinClosed' }

--- The float moves with what the user does to his windows, as long as something waits.
local function follow_windows()
  local group = vim.api.nvim_create_augroup('eca.approval', { clear = true })
  if #items > 0 then
    vim.api.nvim_create_autocmd(EVENTS, { group = group, callback = draw_soon })
  end
end

--- Take a new list, and give what is new in it, or has changed.
---@param pending eca.Pending[]
---@return eca.Pending[]
local function take(pending)
  local before, now = guards, guard.begin()
  local new = {} ---@type eca.Pending[]
  guards = {}
  for _, item in ipairs(pending) do
    local key = key_of(item)
    guards[key] = before[key] or now
    new[#new + 1] = not before[key] and item or nil
  end
  for key in pairs(aside) do
    aside[key] = guards[key] and aside[key]
  end
  items = pending
  return new
end

--- Show what waits now. Called with the op `pending`.
---@param pending eca.Pending[]
function M.update(pending)
  local new = take(pending)
  follow_windows()
  diff.update()
  draw()
  alert.call(new)
end

--- What the float or the diff before the user asks about, if it does.
---@return eca.Pending?
function M.shown()
  local item = first_open()
  return item and (float.state() or diff.shown(item)) and item or nil
end

--- Has it been there long enough that a key pressed now is meant for it?
---@param item eca.Request
---@return boolean
function M.ripe(item)
  local begun = guards[key_of(item)]
  return begun ~= nil and guard.is_over(begun)
end

--- Has what is asked now, if anything, been asked long enough? Who answers may mean what was asked
--- before, and what waited behind that was not seen.
---@return boolean
function M.settled()
  return not front or guard.is_over(front.guard)
end

--- Does anything wait that was not answered here?
---@return boolean
function M.waits()
  return vim.iter(items):any(function(item)
    return aside[key_of(item)] ~= 'answered'
  end)
end

--- Go into what asks, also for what was put aside.
---@return eca.Pending? item what waits, when only its chat can show it
function M.focus()
  for key, how in pairs(aside) do
    aside[key] = how == 'answered' and how or nil
  end
  local item = first_open()
  if not item then
    notify.info('no pending request')
    return nil
  end
  draw()
  local seen = float.focus() or diff.shown(item)
  return not seen and item or nil
end

return M
