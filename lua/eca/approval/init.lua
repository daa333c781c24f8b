--- Approval: shows pending requests in the float, one at a time.
---
--- Rules kept here:
--- - The host sends the list. A request that is answered, stopped or gone leaves it, and so leaves
---   the screen. Only requests in the list can be answered.
--- - A user who answers in the float stays in it for a moment, and the next request is shown there.
---   One who answers in the diff goes to the float for that, and so does one who came from it.
--- - A request that was answered here is not shown again while the answer is on its way to the
---   host.
--- - `q` hides a request and leaves it pending, until the user asks for it.
--- - In a list of chats the one under the cursor alone is asked about, also what was hidden of it.
---   A key there answers what the float shows, and allows only what was on the screen whole.
--- - A request that changes counts as a new one: it is shown again, and its guard time begins
---   again.
local alert = require('eca.approval.alert')
local block = require('eca.approval.block')
local choices = require('eca.approval.choices')
local config = require('eca.config')
local decide = require('eca.input.decide')
local diff = require('eca.diff')
local diff_screen = require('eca.diff.screen')
local edits = require('eca.diff.edits')
local float = require('eca.approval.float')
local guard = require('eca.consent.guard')
local notify = require('eca.ui.notify')
local prompt_content = require('eca.approval.prompt_content')
local question = require('eca.approval.question')
local windows = require('eca.window')

local M = {}

---@alias eca.WhyHidden 'by_user'|'answered'

--- What is known of a pending request as it is now.
---@class eca.AskedRequest
---@field key string
---@field guard eca.Guard since it was pending
---@field hidden? eca.WhyHidden
---@field read? boolean all of it was on the screen

local items = {} ---@type eca.Pending[]
local asked = {} ---@type table<string, eca.AskedRequest> by key
local front = nil ---@type { key?: string, guard: eca.Guard }? the request that is asked now
local drawing = false
local together = {} ---@type table<string, true> keys of what is allowed at once: it was seen
--- The chat that alone is asked about; false: none is; nil: the user is in no list of chats.
local in_list = function() end ---@type fun(): string|false|nil
local listed = nil ---@type string|false|nil what that was when it was drawn

--- What is known of a request. A script may answer one before `M.update` is called with it.
---@param item eca.Request
---@return eca.AskedRequest
local function known_of(item)
  local key = edits.version(item)
  return asked[key] or { key = key, guard = guard.begin() }
end

--- Is a request asked about where the user is? In a list of chats only that of its row is.
---@param item eca.Request
---@return boolean
function M.is_asked_here(item)
  local only = in_list()
  return only == nil or only == item.chat
end

--- The request to ask about: in a diff its own, even if its float is hidden, else the first that is
--- not hidden, of the chat in this tab page if it has one.
---@return eca.Pending?, integer
local function first_open()
  local here = windows.chat_shown()
  local first, place = nil, 0
  for index, item in ipairs(items) do
    local why = known_of(item).hidden
    if why ~= 'answered' and diff.shown(item) then
      return item, index
    elseif
      not why
      and (not first or item.chat == here and first.chat ~= here)
      and M.is_asked_here(item)
    then
      first, place = item, index
    end
  end
  return first, place
end

local draw ---@type fun(leave?: boolean)

--- Ask about a request no more, and show the next.
---@param item eca.Request
---@param why eca.WhyHidden
local function hide(item, why)
  local known = known_of(item)
  known.hidden, asked[known.key] = why, known
  draw(why == 'by_user')
end

---@param origin eca.Origin
local function enter(origin)
  draw()
  float.focus(origin)
end

diff.on_returned(function(origin)
  if origin.in_float then
    enter(origin)
  end
end)

decide.on_answered(function(item)
  local origin = diff.leave(item)
  if origin then
    known_of(item).hidden = nil
    enter(origin)
  end
  float.pause(true)
  hide(item, 'answered') -- the next request takes its place
end)

decide.refuse_if(diff.refusal)

--- Why a typed command cannot be meant for a request.
---@param item eca.Request
---@return string?
local function unseen(item)
  local known = known_of(item)
  local asked_since = front and front.key == known.key and front.guard or known.guard
  local came = not together[known.key] and not guard.was_seen(asked_since)
  return came and 'this came while you typed: look at it, and repeat that' or nil
end
decide.refuse_if(unseen)

--- The pending tool calls of a chat.
---@param chat? string nil: of all chats
---@return eca.Pending[]
local function of_chat(chat)
  return vim.tbl_filter(function(item)
    local is_meant = item.kind == 'approval' and (not chat or item.chat == chat)
    return is_meant and known_of(item).hidden ~= 'answered'
  end, items)
end

--- Was all of a request on the screen: in the float, in its block, or in its diff? The block has no
--- warnings, and the diff no other arguments.
---@param item eca.Pending
---@return boolean
local function was_read(item)
  local seen = not item.cut and not item.warnings and block.seen(item)
  local compared = item.diff_row == 0 and diff_screen.was_whole(item)
  return known_of(item).read or compared or (seen and seen.whole) or false
end

--- Accept the pending calls of a chat whose guard time is over and that were on the screen whole.
--- The others are asked about next.
---@param chat? string nil: of all chats
---@param typed? boolean by a command, which has no guard time
---@return integer count of those that were waiting
function M.accept_all(chat, typed)
  local waiting = of_chat(chat)
  local fresh, unread = 0, 0
  local ready = vim.tbl_filter(function(item)
    local is_ready = not unseen(item) and (typed or M.guard_is_over(item))
    fresh = fresh + (is_ready and 0 or 1)
    if is_ready and not was_read(item) then
      unread, is_ready = unread + 1, false
      known_of(item).hidden = nil
    end
    return is_ready
  end, waiting)
  -- An answer shows the next request, which nobody has read then.
  for _, item in ipairs(ready) do
    together[known_of(item).key] = true
  end
  vim.iter(ready):each(decide.accept)
  together = {}
  if fresh > 0 then
    notify.info(('skipped requests that have just appeared: %d'):format(fresh))
  elseif unread > 0 then
    notify.info(('not all was on the screen, asked one by one: %d'):format(unread))
    draw()
  end
  return #waiting
end

---@param chat string
---@return eca.Choice? all nil if at most one is pending
local function allowing_all(chat)
  local count = #of_chat(chat)
  if count < 2 then
    return nil
  end
  return {
    key = '*',
    text = ('all %d'):format(count),
    about = 'allow the pending requests of the chat that you have seen whole',
    run = function()
      M.accept_all(chat)
    end,
  }
end

--- What the float shows for a request.
---@param item eca.Pending
---@param index integer
---@return eca.PromptContent
local function content_of(item, index)
  local content = item.kind == 'question' and question.content(item)
    or choices.content(item, allowing_all(item.chat))
  local known = known_of(item)
  content.key, content.chat, content.digest = known.key, item.chat, item.digest
  content.title = prompt_content.question(item, index, #items)
  content.read = function()
    known.read = not item.cut
  end
  local function put_aside()
    hide(item, 'by_user')
  end
  -- Who closes the window wants it hidden. Anything else closed it by accident.
  content.gone = function(by_user)
    if by_user then
      put_aside()
    else
      draw()
    end
  end
  local about = 'hide the float and leave the request pending'
  table.insert(content.choices, { key = 'q', text = 'hide', about = about, run = put_aside })
  return content --[[@as eca.PromptContent]]
end

--- Show again what was hidden of a chat to which the user has come in a list of chats.
local function reveal()
  local only = in_list()
  for _, item in ipairs(only ~= listed and items or {}) do
    local known = known_of(item)
    if item.chat == only and known.hidden == 'by_user' then
      known.hidden = nil
    end
  end
  listed = only
end

--- Show what is to be asked now; nothing is left to ask: the float stays for a moment.
---@param leave? boolean the user has left it: it does not
draw = function(leave)
  drawing = false
  reveal()
  local item, index = first_open()
  local key = item and known_of(item).key
  if not front or front.key ~= key then
    front = { key = key, guard = guard.begin() }
  end
  local wanted = item and config.get().approval.float
  if not item and not leave and float.pause(false) then
    return
  elseif
    not item
    or not wanted
    or diff.shown(item)
    or item.plan and require('eca.approval.plan').shown(item) -- late: rarely needed
  then
    float.close()
    return
  end
  float.show(content_of(item, index))
end

local function draw_soon()
  if not drawing then
    drawing = true
    vim.schedule(draw)
  end
end

local EVENTS =
  { 'BufModifiedSet', 'BufWinEnter', 'TabEnter', 'VimResized', 'WinResized', 'WinNew', 'WinClosed' }

--- Show the pending requests. Called with the op `pending`.
---@param pending eca.Pending[]
function M.update(pending)
  local before, new = asked, {} ---@type table<string, eca.AskedRequest>, eca.Pending[]
  items, asked = pending, {}
  for _, item in ipairs(pending) do
    local known = known_of(item)
    asked[known.key] = before[known.key] or known
    new[#new + 1] = not before[known.key] and item or nil -- or it has changed
  end
  -- While a request is pending, the float adapts to changes of the user's windows.
  local group = vim.api.nvim_create_augroup('eca.approval', { clear = true })
  if #pending > 0 then
    vim.api.nvim_create_autocmd(EVENTS, { group = group, callback = draw_soon })
  end
  if new[1] then
    alert.requested(new) -- also if Neovim forbids to draw now
  end
  diff.update(pending)
  draw()
end

--- Ask only about the chat under the cursor in a list of chats. Called when that may be another.
---@param chat fun(): string|false|nil as `in_list`
function M.ask_only(chat)
  in_list = chat
  vim.schedule(function() -- the user may be leaving it
    if #items > 0 and in_list() ~= listed then
      draw()
    end
  end)
end

--- Answer what the float shows of a chat by one of its keys, pressed in a list of chats.
---@param key string
---@param chat? string
function M.press(key, chat)
  local item = first_open()
  local is_meant, allows = item ~= nil and item.chat == chat, key == 'a' or key == 'A'
  local refusal = item and is_meant and float.refusal(known_of(item).key)
  if not item or not is_meant then
    refusal = 'no request of this chat is on the screen'
  elseif not config.get().approval.float then
    refusal = 'the option approval.float is off: open the chat to answer'
  elseif not refusal and allows and not was_read(item) then
    refusal = 'not all of it was on the screen: g<CR> goes there, to scroll'
  end
  refusal = refusal or float.press(key)
  if refusal then
    notify.info(refusal)
  end
end

--- The request that the float or the diff tab in sight asks about, if any.
---@return eca.Pending?
function M.shown()
  local item = first_open()
  return item and (float.state() or diff.shown(item)) and item or nil
end

--- The request that is meant if none is named: that on the screen, else the first of the current
--- chat, else the first.
---@param found eca.Pending[]
---@param digest? string of what a script has seen of it
---@return eca.Pending?
function M.meant(found, digest)
  local shown, chat, first = M.shown(), windows.current_chat(), found[1]
  for _, item in ipairs(found) do
    if item == shown then
      first = item
      break
    elseif item.chat == chat and first.chat ~= chat then
      first = item
    end
  end
  return digest and first and vim.tbl_extend('force', first, { digest = digest }) or first
end

--- Has it been pending for long enough that a key pressed now is meant for it?
---@param item eca.Request
---@return boolean
function M.guard_is_over(item)
  local known = known_of(item)
  return asked[known.key] ~= nil and guard.is_over(known.guard)
end

--- Has the current request, if any, been asked for long enough? Otherwise an answer may be meant
--- for the one before, behind which this one could not be seen.
---@return boolean
function M.front_guard_is_over()
  return not front or guard.is_over(front.guard)
end

--- Is any request pending that was not answered here?
---@return boolean
function M.has_pending()
  return vim.iter(items):any(function(item)
    return known_of(item).hidden ~= 'answered'
  end)
end

--- Enter the float or the diff that asks; requests that the user has hidden are shown again.
---@return eca.Pending? item the request, if only its chat can show it
function M.focus()
  for _, known in pairs(asked) do
    known.hidden = known.hidden == 'answered' and 'answered' or nil
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
