--- Approval: what waits for the user's word, one at a time, in the float.
---
--- Rules kept here:
--- - The list is the host's: what is answered, stopped or gone leaves it, and so the screen. What
---   is not in the list cannot be answered.
--- - `q` leaves a request pending and hides the float until something new asks or it is called for.
local float = require('eca.prompt_float')

local M = {}

local items = {} ---@type eca.Pending[]
local hidden = {} ---@type table<string, true> left pending by the user, by key

---@param item eca.Pending
---@return string
local function key_of(item)
  return item.chat .. ' ' .. item.id
end

---@param item eca.Pending
---@param index integer
---@return string
local function title_of(item, index)
  local what = item.kind == 'question' and 'the agent asks' or 'allow this?'
  return #items > 1 and ('%s (%d/%d)'):format(what, index, #items) or what
end

--- Say no, and what to do instead.
---@param item eca.Pending
local function reject_with_reason(item)
  vim.ui.input({ prompt = 'Do instead: ' }, function(reason)
    if reason and reason ~= '' then
      require('eca').reject({ id = item.id, reason = reason })
    end
  end)
end

---@param item eca.Pending
local function leave(item)
  hidden[key_of(item)] = true
  float.close()
end

---@param item eca.Pending
---@return table<string, fun()>
local function keys_of(item)
  local eca = require('eca')
  return {
    a = function()
      eca.approve({ id = item.id })
    end,
    A = function()
      eca.approve({ id = item.id, remember = true })
    end,
    r = function()
      eca.reject({ id = item.id })
    end,
    R = function()
      reject_with_reason(item)
    end,
    d = function()
      require('eca.host').send('diff', { chat = item.chat, id = item.id })
    end,
    q = function()
      leave(item)
    end,
  }
end

---@param item eca.Pending
---@return eca.Segment[]
local function footer_of(item)
  local footer = {} ---@type eca.Segment[]
  local function key(name, text)
    footer[#footer + 1] = { ' ' .. name, 'EcaKey' }
    footer[#footer + 1] = { ' ' .. text .. ' ', 'EcaDim' }
  end
  key('a', 'accept')
  if item.remember then
    key('A', '& remember')
  end
  key('r', 'reject')
  key('R', '& say why')
  if item.path then
    key('d', 'diff')
  end
  return footer
end

--- The lines that say what will happen, and what remembering would remember.
---@param item eca.Pending
---@return string[] lines, eca.Mark[] marks
local function body_of(item)
  local lines = { item.title }
  local marks = { { 0, 0, -1, 'EcaTool' } } ---@type eca.Mark[]
  for _, line in ipairs(item.lines or {}) do
    lines[#lines + 1] = line
  end
  for _, mark in ipairs(item.marks or {}) do
    marks[#marks + 1] = { mark[1] + 1, mark[2], mark[3], mark[4] }
  end
  if item.remember and #item.remember > 0 then
    lines[#lines + 1] = 'remember: ' .. table.concat(item.remember, ', ')
    marks[#marks + 1] = { #lines - 1, 0, -1, 'EcaDim' }
  end
  return lines, marks
end

---@param item eca.Pending
---@param index integer
---@return eca.PromptContent
local function content_of(item, index)
  local lines, marks = body_of(item)
  return {
    key = key_of(item),
    chat = item.chat,
    title = title_of(item, index),
    lines = lines,
    marks = marks,
    footer = footer_of(item),
    keys = keys_of(item),
  }
end

--- The first request that the user has not put aside.
---@return eca.Pending?, integer
local function first_open()
  for index, item in ipairs(items) do
    if not hidden[key_of(item)] then
      return item, index
    end
  end
  return nil, 0
end

local function draw()
  local item, index = first_open()
  if not item or not require('eca.config').get().approval.float then
    float.close()
  elseif item.kind == 'question' then
    float.show(require('eca.question').content(item, title_of(item, index)))
  else
    float.show(content_of(item, index))
  end
end

local function follow_windows()
  local group = vim.api.nvim_create_augroup('eca.approval', { clear = true })
  vim.api.nvim_create_autocmd({ 'TabEnter', 'VimResized', 'WinResized', 'WinNew', 'WinClosed' }, {
    group = group,
    callback = function()
      vim.schedule(float.replace)
    end,
  })
end

--- Show what waits now. Called with the op `pending`.
---@param pending eca.Pending[]
function M.update(pending)
  local known = {} ---@type table<string, true>
  for _, item in ipairs(pending) do
    known[key_of(item)] = true
  end
  for key in pairs(hidden) do
    hidden[key] = known[key]
  end
  items = pending
  if #items > 0 then
    follow_windows()
  else
    pcall(vim.api.nvim_del_augroup_by_name, 'eca.approval')
  end
  draw()
end

--- Put a request aside, as `q` does.
---@param item eca.Pending
function M.leave(item)
  leave(item)
end

--- Go into the float, showing again what was put aside; false when nothing waits.
---@return boolean
function M.focus()
  hidden = {}
  draw()
  return float.focus()
end

return M
