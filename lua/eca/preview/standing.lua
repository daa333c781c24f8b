--- The previews that stand: which there are, drawing them, and following what happens to their
--- buffers.
local answers = require('eca.preview.answer')
local draw = require('eca.preview.draw')
local host = require('eca.host')
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')
local region = require('eca.preview.region')
local status = require('eca.preview.status')
local virtual_lines = require('eca.ui.virtual_lines')
local written = require('eca.preview.written')

local M = {}

---@alias eca.PreviewState 'streaming'|'ready'|'failed'

---@class eca.Passage what an agent rewrites, or answers
---@field prompt string
---@field server? string

---@class eca.Preview
---@field id string
---@field kind 'rewrite'|'ask'|'put'
---@field state eca.PreviewState
---@field region eca.Region
---@field namespace integer of what is drawn
---@field hunks eca.PreviewHunk[] those that are undecided
---@field began integer ms
---@field fault string
---@field passage? eca.Passage of a rewrite or a question
---@field answer? eca.Answer of a question
---@field is_ranged? boolean the user has named the lines of a question
---@field is_lost? boolean the host that has had the conversation is gone
---@field unseen? boolean the server does not see unsaved changes around it
---@field as_diff? boolean shown as a diff when it is complete
---@field asked? eca.Asked when the user asked for it

local previews = {} ---@type eca.Preview[] oldest first
local watched = {} ---@type table<integer, integer> autocommand group by buffer
local timer = assert(vim.uv.new_timer())
local is_ticking = false

--- A new preview of lines, which does not stand yet.
---@param kind 'rewrite'|'ask'|'put'
---@param buf integer
---@param first integer 1-based
---@param last integer
---@return eca.Preview
function M.make(kind, buf, first, last)
  ---@type eca.Preview
  local preview = { kind = kind, state = 'streaming', hunks = {}, fault = '' }
  preview.id = 'aside-' .. require('eca.chat.buffers').new_id() -- no list of chats has it
  preview.region = region.make(buf, first, last)
  preview.namespace = vim.api.nvim_create_namespace('')
  preview.began = vim.uv.now()
  return preview
end

--- All previews, oldest first.
---@return eca.Preview[]
function M.all()
  return previews
end

---@param id string
---@return eca.Preview?
function M.by_id(id)
  for _, preview in ipairs(previews) do
    if preview.id == id then
      return preview
    end
  end
end

---@param buf integer
---@return eca.Preview[]
function M.in_buffer(buf)
  return vim.tbl_filter(function(preview)
    return preview.region.buf == buf
  end, previews)
end

---@param preview eca.Preview
---@return integer
local function conflicts_in(preview)
  local count = 0
  for _, hunk in ipairs(preview.state == 'ready' and preview.hunks or {}) do
    count = count + (region.place(preview.region, hunk) and 0 or 1)
  end
  return count
end

--- What is drawn of a preview.
---@param preview eca.Preview
---@return eca.Drawing
function M.drawing(preview)
  return {
    region = preview.region,
    namespace = preview.namespace,
    hunks = preview.hunks,
    status = status.of(preview, conflicts_in(preview)),
    is_running = preview.state == 'streaming',
  }
end

--- The rows that a preview takes in a window.
---@param preview eca.Preview
---@return integer
function M.height(preview)
  return draw.height(M.drawing(preview))
end

--- Look for the lines of a buffer that was read again, and lost all marks. The previews of one that
--- was wiped out without autocommands end.
---@param buf integer
local function find_again(buf)
  if not vim.api.nvim_buf_is_valid(buf) then
    return vim.tbl_map(M.close, M.in_buffer(buf))
  end
  for _, preview in ipairs(M.in_buffer(buf)) do
    if region.is_lost(preview.region) and not region.find_again(preview.region) then
      if preview.answer then
        region.give_up(preview.region)
      else
        M.close(preview)
        notify.warn('a preview has ended: its lines are not in the file any more')
      end
    end
  end
end

--- Draw a preview again.
---@param preview eca.Preview
function M.draw(preview)
  local buf = preview.region.buf
  if preview.answer then
    answers.draw(preview)
  elseif virtual_lines.is_in_diff(buf) then
    draw.clear(buf, preview.namespace)
  elseif vim.api.nvim_buf_is_loaded(buf) then
    draw.one(M.drawing(preview))
  end
end

--- Draw the previews of a buffer again.
---@param buf integer
function M.redraw(buf)
  find_again(buf)
  vim.tbl_map(M.draw, M.in_buffer(buf))
end

--- Announce that a preview has changed (`EcaPreviewChanged`).
---@param preview eca.Preview
---@param state eca.PreviewState|'closed'
function M.announce(preview, state)
  local data = { id = preview.id, kind = preview.kind, buf = preview.region.buf, state = state }
  others.emit('EcaPreviewChanged', data)
end

--- Remove the keys of a buffer that has no preview any more.
---@param buf integer
local function unmap(buf)
  for _, mapping in ipairs(vim.api.nvim_buf_get_keymap(buf, 'n')) do
    if (mapping.rhs or ''):find("'eca.keymaps'.in_preview", 1, true) then
      vim.keymap.del('n', mapping.lhs, { buffer = buf })
    end
  end
end

--- End a preview: nothing of it stays but what was accepted.
---@param preview eca.Preview
---@param is_event? boolean an autocommand, in which no window may close
function M.close(preview, is_event)
  local buf = preview.region.buf
  previews = vim.tbl_filter(function(other)
    return other ~= preview
  end, previews)
  if preview.answer then
    host.send_if_running('stop_answer', { id = preview.id, closes = true })
    local close = is_event and vim.schedule_wrap(answers.close) or answers.close
    close(preview.answer)
  elseif preview.state == 'streaming' then
    host.send_if_running('stop_preview', { id = preview.id })
  end
  region.forget(preview.region)
  draw.clear(buf, preview.namespace)
  if #M.in_buffer(buf) == 0 then
    if watched[buf] then
      vim.api.nvim_del_augroup_by_id(watched[buf])
      watched[buf] = nil
    end
    if vim.api.nvim_buf_is_valid(buf) then
      unmap(buf)
    end
  end
  if #previews == 0 then
    written.unwatch()
    virtual_lines.forget()
  end
  M.announce(preview, 'closed')
end

--- Look at the previews of a buffer after an edit: those whose lines are gone end.
---@param buf integer
function M.look(buf)
  if vim.api.nvim_buf_is_valid(buf) and not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  find_again(buf)
  for _, preview in ipairs(M.in_buffer(buf)) do
    if preview.answer then
      region.near(preview.region) -- notes where the lines are
    elseif preview.state == 'ready' then -- by `do` in a diff, an undo and a redo, or by hand
      preview.hunks = vim.tbl_filter(function(hunk)
        return not region.is_done(preview.region, hunk)
      end, preview.hunks)
    end
    local is_shown = preview.answer ~= nil
    if preview.state == 'ready' and #preview.hunks == 0 and not is_shown then
      M.close(preview)
    elseif not is_shown and not region.rows(preview.region) then
      M.close(preview)
      notify.info('a preview has ended: its lines were deleted')
    end
  end
  M.redraw(buf)
end

--- Milliseconds after an edit in which others are waited for: no key waits for all of a preview.
local PAUSE = 50

local waiting = {} ---@type table<integer, true> buffers to be looked at

--- Look at the previews of a buffer once what happens now is over.
---@param buf integer
local function look_soon(buf)
  if not waiting[buf] then
    waiting[buf] = true
    vim.defer_fn(function()
      waiting[buf] = nil
      M.look(buf)
    end, PAUSE)
  end
end

---@param buf integer
local function watch(buf)
  if watched[buf] then
    return
  end
  local group = vim.api.nvim_create_augroup('eca.preview.' .. buf, { clear = true })
  watched[buf] = group
  ---@param events string[]
  ---@param call fun(buf: integer)
  local function on(events, call)
    vim.api.nvim_create_autocmd(events, {
      group = group,
      buffer = buf,
      callback = function()
        call(buf)
      end,
    })
  end
  on({ 'TextChanged', 'TextChangedI', 'TextChangedP', 'InsertLeave' }, look_soon)
  on({ 'BufUnload' }, function()
    vim.tbl_map(function(preview)
      region.keep(preview.region)
    end, M.in_buffer(buf))
  end)
  on({ 'BufReadPost', 'FileChangedShellPost', 'BufWinEnter' }, look_soon)
  on({ 'BufWipeout' }, function()
    for _, preview in ipairs(M.in_buffer(buf)) do
      M.close(preview, true)
    end
  end)
  local function soon()
    look_soon(buf)
  end
  vim.api.nvim_create_autocmd({ 'WinResized', 'TabEnter' }, { group = group, callback = soon })
  local options = { 'diff', 'foldcolumn', 'number', 'numberwidth', 'signcolumn', 'tabstop' }
  vim.api.nvim_create_autocmd('OptionSet', { group = group, pattern = options, callback = soon })
end

--- Show the time of what runs, each second while something does.
local function tick()
  if is_ticking then
    return
  end
  is_ticking = true
  timer:start(1000, 1000, function()
    vim.schedule(function()
      local buffers = {} ---@type table<integer, true>
      for _, preview in ipairs(previews) do
        if preview.state == 'streaming' then
          buffers[preview.region.buf] = true
        end
      end
      vim.tbl_map(M.redraw, vim.tbl_keys(buffers))
      if not next(buffers) then
        timer:stop()
        is_ticking = false
      end
    end)
  end)
end

--- Show that something comes for a preview once more.
---@param preview eca.Preview
function M.restart(preview)
  M.draw(preview)
  tick()
  M.announce(preview, preview.state)
end

--- Show a new preview.
---@param preview eca.Preview
function M.add(preview)
  local buf = preview.region.buf
  previews[#previews + 1] = preview
  watch(buf)
  written.watch()
  others.announce(buf, 'preview') -- maps the keys
  M.redraw(buf)
  tick()
  M.announce(preview, preview.state)
end

return M
