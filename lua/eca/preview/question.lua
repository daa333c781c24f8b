--- Questions about lines of a buffer, answered in place: asking, asking on, stopping, and going on
--- in a chat.
---
--- Rules kept here:
--- - An answer is never lost with its lines: if these are deleted, it stays where they were.
--- - What moves or is hidden on the screen is looked at once what happens now is over: no key waits
---   for it.
local answers = require('eca.preview.answer')
local buffers = require('eca.chat.buffers')
local context = require('eca.context')
local host = require('eca.host')
local notify = require('eca.ui.notify')
local paths = require('eca.files.paths')
local region = require('eca.preview.region')
local sanitize = require('eca.ui.sanitize')
local standing = require('eca.preview.standing')

local M = {}

local MOST_AROUND = 200 -- lines above and below that an agent gets
local NAME_CELLS = 40

---@class eca.AskOptions
---@field buf integer
---@field first integer 1-based
---@field last integer
---@field prompt string
---@field server? string
---@field is_ranged? boolean the user has named the lines

--- What the host gets to know of the lines.
---@param preview eca.Preview
---@return table
function M.passage(preview)
  local buf = preview.region.buf
  local first, last = region.near(preview.region)
  local name = vim.api.nvim_buf_get_name(buf)
  local is_file = vim.bo[buf].buftype == '' and name ~= ''
  return {
    id = preview.id,
    path = is_file and name or '',
    lines = preview.region.old,
    first = first + 1,
    language = vim.bo[buf].filetype,
    above = vim.api.nvim_buf_get_lines(buf, math.max(0, first - MOST_AROUND), first, false),
    below = vim.api.nvim_buf_get_lines(buf, last, last + MOST_AROUND, false),
    modified = vim.bo[buf].modified,
    server = assert(preview.passage).server,
  }
end

---@param preview eca.Preview
local function send(preview)
  local question, asked = assert(preview.passage).prompt, M.passage(preview)
  answers.asked(assert(preview.answer), question)
  asked.question, asked.contexts = question, context.collect(preview.id, question)
  host.send('ask_in_place', asked)
end

local is_due = false

--- Draw all answers again once what happens now is over.
local function draw_soon()
  if is_due then
    return
  end
  is_due = true
  vim.schedule(function()
    is_due = false
    for _, preview in ipairs(standing.all()) do
      if preview.answer then
        standing.draw(preview)
      end
    end
  end)
end

--- What moves lines on the screen, or the cursor under a float.
local MOVES = { 'WinScrolled', 'WinResized', 'VimResized', 'WinEnter', 'WinClosed', 'BufWinEnter' }
vim.list_extend(MOVES, { 'CursorMoved', 'CursorMovedI', 'TabEnter', 'CmdwinLeave' })

--- Follow what happens on the screen while an answer stands.
local function follow()
  local group = vim.api.nvim_create_augroup('eca.preview.answers', { clear = true })
  local function look()
    local stands = vim.iter(standing.all()):any(function(preview)
      return preview.answer ~= nil
    end)
    if stands then
      draw_soon()
    else
      vim.api.nvim_del_augroup_by_id(group)
    end
  end
  vim.api.nvim_create_autocmd(MOVES, { group = group, callback = look })
  local closed = { group = group, pattern = 'EcaPreviewChanged', callback = look }
  vim.api.nvim_create_autocmd('User', closed)
end

--- Ask about lines of a buffer; the answer is shown beside them.
---@param options eca.AskOptions
---@return string id
function M.ask(options)
  local preview = standing.make('ask', options.buf, options.first, options.last)
  preview.passage = { prompt = options.prompt, server = options.server }
  preview.answer, preview.is_ranged = answers.new(preview.id), options.is_ranged
  vim.api.nvim_create_autocmd('BufUnload', {
    buffer = preview.answer.buf,
    callback = vim.schedule_wrap(function()
      if standing.by_id(preview.id) then
        standing.close(preview)
      end
    end),
  })
  send(preview)
  standing.add(preview)
  follow()
  draw_soon() -- others may be in its way
  return preview.id
end

--- Ask on, in the same conversation.
---@param preview eca.Preview
---@param prompt string
function M.ask_on(preview, prompt)
  if preview.state == 'streaming' then
    return notify.info('wait for the answer, or stop it')
  end
  preview.passage.prompt, preview.state = prompt, 'streaming'
  preview.began, preview.fault = vim.uv.now(), ''
  send(preview)
  standing.restart(preview)
end

--- Tell the user of an answer that is not on the screen.
---@param preview eca.Preview
local function tell(preview)
  local name = paths.of_buffer(preview.region.buf)
  local where = name and sanitize.line(paths.short(name)) or 'a buffer without a name'
  local line = preview.state == 'ready' and 'answered: in %s' or 'not answered: in %s'
  notify.info(line:format(require('eca.ui.display_width').cut(where, NAME_CELLS)))
end

--- Show what the host says of an answer (op `place_answer`).
---@param preview eca.Preview
---@param op table<string, any>
function M.received(preview, op)
  answers.received(assert(preview.answer), op)
  local is_over = op.state ~= 'streaming'
  preview.state, preview.fault = op.state, op.fault or ''
  standing.draw(preview)
  if is_over then
    standing.announce(preview, op.state)
    if not preview.answer.win and not preview.answer.is_hidden then
      tell(preview)
    end
  end
end

--- Stop an answer: what has come stays.
---@param preview eca.Preview
function M.stop(preview)
  host.send('stop_answer', { id = preview.id })
end

--- Go on in a new chat, with what was said.
---@param preview eca.Preview
function M.to_chat(preview)
  local chat = buffers.new_id()
  host.send('continue_in_chat', { id = preview.id, chat = chat })
  standing.close(preview)
  require('eca.chat.open').chat(chat, nil, true, assert(preview.passage).server)
end

return M
