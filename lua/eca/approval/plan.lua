--- A plan of the agent in a buffer: the user changes it, and sends it back as the one to follow.
---
--- Rules kept here:
--- - The text is data: the buffer has no modeline, and no file.
--- - A request that waits is answered as it was when the buffer was opened. If the plan was not
---   changed, it is allowed; else it is rejected, and the changed plan is the next prompt.
--- - The chat leaves the agent's plan mode then, but never for a mode in which tools run unasked.
--- - Tokens in a plan name no contexts. A plan that names a file outside the workspace is not sent,
---   because ECA servers read what a prompt names.
--- - What the user has changed stays, in the buffer, until it is sent.
local buffers = require('eca.chat.buffers')
local choose = require('eca.ui.choose')
local decide = require('eca.input.decide')
local files = require('eca.files')
local host = require('eca.host')
local input = require('eca.input')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')
local paths = require('eca.files.paths')
local return_window = require('eca.ui.return_window')
local sanitize = require('eca.ui.sanitize')
local scan = require('eca.text.scan')
local tokens = require('eca.context.tokens')
local windows = require('eca.window')

local M = {}

---@class eca.ProposedPlan
---@field chat string
---@field block integer
---@field text string as the agent has written it
---@field item? eca.Pending the request that asked for it, as it was when the buffer was opened
---@field buf integer
---@field origin? eca.Origin

local CHANGED = 'Follow this plan instead; I have changed it:\n\n%s'
local FOLLOW = 'Follow this plan:\n\n%s'
local WINBAR = '%#EcaWinbar# plan%=<C-s> sends it · :w keeps it · q closes '

local plans = {} ---@type eca.ProposedPlan[]
local last = 0

--- Does a value of an option stand for planning?
---@param offer eca.OptionOffer
---@return boolean
local function is_planning(offer)
  return offer.name:lower():find('^plan%f[%W]') ~= nil or tostring(offer.value):lower() == 'plan'
end

--- Let the chat leave plan mode, for the first other mode in which tools ask.
---@param chat string
local function leave_plan_mode(chat)
  local stays = false
  for _, option in ipairs(mirror.chat(chat).options) do
    local now, other ---@type eca.OptionOffer?, eca.OptionOffer?
    for _, offer in ipairs(option.kind == 'select' and option.offers or {}) do
      local asks = not offer.unasked and not offer.unsure and not is_planning(offer)
      now = now or (offer.value == option.value and offer or nil)
      other = other or (asks and offer or nil)
    end
    stays = stays or now ~= nil and is_planning(now)
    if now and other and is_planning(now) then
      host.send('choose', { chat = chat, option = option.id, value = other.value })
      return notify.info(('the plan is sent; %s: %s'):format(option.name, other.name))
    end
  end
  notify.info(
    stays and 'the plan is sent; still in plan mode: see :Eca agent' or 'the plan is sent'
  )
end

--- The first name of a file outside the workspace that an ECA server would read in a prompt.
---@param text string
---@return string? name with its `@`
local function leads_out(text)
  for word in text:gmatch('@([/~%.][^%s:]*)') do
    local name = scan.without_end(word, '[^%w/]')
    local path = paths.normalize(tokens.absolute(name))
    if vim.uv.fs_stat(path) and not paths.inside(path, host.folders()) then
      return '@' .. name
    end
  end
end

--- Forget a plan that was sent, and close its window.
---@param plan eca.ProposedPlan
local function close(plan)
  plans = vim.tbl_filter(function(each)
    return each ~= plan
  end, plans)
  vim.api.nvim_buf_delete(plan.buf, { force = true })
  if plan.origin then
    return_window.go_back(plan.origin)
  end
end

--- Allow the request of a plan that was not changed: once, or as the user chooses.
---@param plan eca.ProposedPlan
---@param item eca.Pending
local function allow(plan, item)
  if decide.only(item, 'allow_once') then
    return decide.accept(item) and close(plan)
  end
  choose.one('Follow the plan', item.choices or {}, decide.listed, function(choice)
    if decide.choose(item, choice) then
      close(plan)
    end
  end)
end

--- Send what the buffer has as the plan to follow.
---@param plan eca.ProposedPlan
local function send(plan)
  local text = scan.trim(table.concat(vim.api.nvim_buf_get_lines(plan.buf, 0, -1, false), '\n'))
  local item, outside = plan.item, leads_out(text)
  if not buffers.get(plan.chat) then
    return notify.warn('not sent: its chat is gone; :w {name} keeps the plan')
  elseif item and not decide.now(item) then
    item = nil -- it was answered elsewhere: the plan is a prompt
  end
  if text == '' then
    return notify.info('not sent: the plan is empty')
  elseif item and text == plan.text then
    return allow(plan, item)
  elseif outside then
    local line = 'outside the workspace, take its @ away: %s'
    return notify.warn(line:format(sanitize.line(outside)))
  elseif item and not decide.reject(item, CHANGED:format(text)) then
    return
  end
  leave_plan_mode(plan.chat)
  if not item then
    local prompt = (text == plan.text and FOLLOW or CHANGED):format(text)
    input.send(plan.chat, prompt, { tokens_in = '' })
  end
  close(plan)
  input.show_end(plan.chat)
end

--- Leave the window; what the user has changed is kept, and what another window shows.
---@param plan eca.ProposedPlan
local function leave(plan)
  vim.bo[plan.buf].modified = false
  local win = vim.api.nvim_get_current_win()
  if #vim.api.nvim_list_wins() == 1 then
    others.call('TabNew', vim.cmd.tabnew) -- the last window cannot be closed
  end
  others.close(win)
  local now = table.concat(vim.api.nvim_buf_get_lines(plan.buf, 0, -1, false), '\n')
  if now == plan.text and #vim.fn.win_findbuf(plan.buf) == 0 then
    return close(plan)
  end
  if plan.origin then
    return_window.go_back(plan.origin)
  end
  if now ~= plan.text then
    notify.info('what you changed is kept: :Eca plan opens it again')
  end
end

--- Write the text into a file: `:w name`.
---@param buf integer
---@param name string
local function write_copy(buf, name)
  local path = vim.fn.fnamemodify(name, ':p')
  local worked, fault = pcall(files.write, path, vim.api.nvim_buf_get_lines(buf, 0, -1, false))
  notify.info(worked and 'the plan is written' or sanitize.line(tostring(fault)))
end

--- End a plan if its chat is gone, unless the user has changed it or sees it.
---@param plan eca.ProposedPlan
local function end_without_chat(plan)
  if buffers.get(plan.chat) or not vim.api.nvim_buf_is_valid(plan.buf) then
    return
  end
  local now = table.concat(vim.api.nvim_buf_get_lines(plan.buf, 0, -1, false), '\n')
  if now == plan.text and #vim.fn.win_findbuf(plan.buf) == 0 then
    plan.origin = nil -- nobody leaves anything
    close(plan)
  end
end

--- Follow whether the chat of plans is deleted.
---@param id string
local function watch_chat(id)
  local chat, group = buffers.get(id), vim.api.nvim_create_augroup('eca.plan', { clear = false })
  if not chat then
    return
  end
  vim.api.nvim_clear_autocmds({ group = group, buffer = chat.buf })
  vim.api.nvim_create_autocmd('BufUnload', {
    group = group,
    buffer = chat.buf,
    callback = vim.schedule_wrap(function()
      vim.tbl_map(end_without_chat, plans)
    end),
  })
end

---@param plan eca.ProposedPlan
local function create(plan)
  last = last + 1
  local buf = others.create_buf()
  plan.buf = buf
  files.name(buf, ('plan/%d'):format(last))
  vim.bo[buf].modeline, vim.bo[buf].swapfile, vim.bo[buf].bufhidden = false, false, 'hide'
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(plan.text, '\n', { plain = true }))
  vim.bo[buf].buftype, vim.bo[buf].modified = 'acwrite', false
  vim.api.nvim_create_autocmd('BufWriteCmd', {
    buffer = buf,
    callback = function(event)
      if event.match ~= vim.api.nvim_buf_get_name(buf) then
        return write_copy(buf, event.match)
      end
      vim.bo[buf].modified = false
    end,
  })
  others.set('FileType', buf, 'filetype', 'markdown')
  local function map(mode, key, run, about)
    vim.keymap.set(mode, key, function()
      run(plan)
    end, { buffer = buf, nowait = true, desc = 'eca: ' .. about })
  end
  map({ 'n', 'i' }, '<C-s>', send, 'send the plan')
  map('n', 'q', leave, 'close the plan')
  plans = vim.tbl_filter(function(each) -- of those before, the user may have deleted some
    return vim.api.nvim_buf_is_loaded(each.buf)
  end, plans)
  plans[#plans + 1] = plan
  watch_chat(plan.chat)
end

--- The plan that the user has open already, with what they have changed.
---@param chat string
---@param block integer
---@param text string
---@return eca.ProposedPlan?
local function known(chat, block, text)
  return vim.iter(plans):find(function(plan)
    local is_same = plan.chat == chat and plan.block == block and plan.text == text
    return is_same and vim.api.nvim_buf_is_loaded(plan.buf)
  end)
end

--- Does the current window show the plan of a request? The float need not ask then.
---@param item eca.Pending
---@return boolean
function M.shown(item)
  local buf = vim.api.nvim_get_current_buf()
  return vim.iter(plans):any(function(plan)
    return plan.buf == buf and plan.chat == item.chat and plan.block == item.block
  end)
end

--- Open the plan that the agent proposes in a tab page: the one that waits, else its last answer.
---@param chat? string default: the current one
---@param block? integer of another answer
function M.open(chat, block)
  local id = chat or windows.current_chat()
  if not id then
    return notify.info('no chat yet')
  end
  local asked = return_window.asked()
  host.ask('plan', { chat = id, block = block }, function(found)
    if not found then
      return notify.info('no plan yet: ask the agent for one')
    elseif not return_window.may_focus(asked, 'the plan') then
      return
    end
    local plan = known(id, found.block, found.text)
    if not plan then
      plan = { chat = id, block = found.block, text = found.text, buf = 0 }
      create(plan)
    end
    plan.item = vim.iter(mirror.pending(id)):find(function(item)
      return item.block == plan.block and item.plan
    end)
    plan.origin = return_window.here()
    if vim.fn.bufwinid(plan.buf) ~= -1 then
      return others.go_to(vim.fn.bufwinid(plan.buf))
    end
    vim.cmd.stopinsert()
    others.call('TabNew', vim.cmd.tabnew)
    vim.bo.bufhidden = 'wipe'
    others.show(0, plan.buf)
    vim.wo[0][0].wrap, vim.wo[0][0].linebreak = true, true
    vim.wo[0][0].winbar = WINBAR
  end)
end

return M
