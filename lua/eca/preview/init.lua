--- Previews: changes shown in a buffer before the user accepts them, such as a rewrite's.
---
--- Rules kept here:
--- - The buffer is untouched until a hunk is accepted. What is accepted in one go is one undo step,
---   and changes only the lines that differ.
--- - A hunk whose old lines were edited is a conflict: it is not accepted, and that is said. Lines
---   that were deleted end their preview.
--- - The host says what the lines become (op `preview`); which previews there are, and where, is
---   known here alone.
--- - What comes for a preview that is gone is dropped.
local context = require('eca.context')
local expected = require('eca.chat.expected')
local host = require('eca.host')
local keys = require('eca.ui.keys')
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')
local question = require('eca.preview.question')
local region = require('eca.preview.region')
local return_window = require('eca.ui.return_window')
local side_by_side = require('eca.preview.side_by_side')
local standing = require('eca.preview.standing')
local windows = require('eca.window')

local M = {}

---@param preview eca.Preview
local function send(preview)
  local rewrite = question.passage(preview)
  rewrite.instruction = assert(preview.passage).prompt
  rewrite.contexts = vim.tbl_filter(function(item)
    return item.token ~= nil -- that of the cursor is in the lines
  end, context.collect(preview.id, rewrite.instruction))
  host.send('rewrite', rewrite)
end

--- A new preview of lines that have none; a message says why there cannot be one.
---@param kind 'rewrite'|'put'
---@param buf integer
---@param first integer 1-based
---@param last integer
---@return eca.Preview?
local function begin(kind, buf, first, last)
  if not vim.api.nvim_buf_is_loaded(buf) or not vim.bo[buf].modifiable then
    return notify.warn('this buffer cannot be changed')
  elseif first < 1 or last < first then
    return notify.warn(('no such lines: %d-%d'):format(first, last))
  end
  for _, preview in ipairs(standing.in_buffer(buf)) do
    local from, to = region.rows(preview.region)
    if not preview.answer and from and first - 1 < to and last > from then
      return notify.warn('a preview stands in these lines already')
    end
  end
  return standing.make(kind, buf, first, last)
end

---@class eca.RewriteOptions
---@field buf? integer default: the current one
---@field range? [integer, integer] first and last line, 1-based; default: the whole buffer
---@field prompt string what to do with these lines
---@field server? string the name of one; default: that of the current chat
---@field asked? eca.Asked when the user asked for it; nil: a script did

---@return string? name of the current chat's server
function M.current_server()
  local chat = windows.current_chat()
  return chat and expected.status(chat).server_name or nil
end

--- Have lines rewritten, and show the answer in their place. Lines of another preview are refused.
---@param options eca.RewriteOptions
---@return string? id nil after a message
function M.rewrite(options)
  local buf = options.buf or 0
  buf = buf == 0 and vim.api.nvim_get_current_buf() or buf
  local first, last = unpack(options.range or { 1, vim.api.nvim_buf_line_count(buf) })
  if type(options.prompt) ~= 'string' or not options.prompt:find('%S') then
    return notify.warn('not rewritten: `prompt` must say what to do')
  end
  local preview = begin('rewrite', buf, first, math.min(last, vim.api.nvim_buf_line_count(buf)))
  if preview then
    local server = options.server or M.current_server()
    preview.passage = { prompt = options.prompt, server = server }
    preview.asked = options.asked
    standing.add(preview)
    send(preview)
  end
  return preview and preview.id
end

---@class eca.PutOptions
---@field buf integer
---@field first integer lines that are replaced, 1-based
---@field last integer
---@field lines string[] the new ones
---@field below? boolean they go below these lines, which stay
---@field as_diff? boolean show it as a diff in a tab page

--- Show what lines would change, as a preview.
---@param options eca.PutOptions
function M.put(options)
  local preview = begin('put', options.buf, options.first, options.last)
  if preview then
    preview.as_diff, preview.asked = options.as_diff, return_window.asked()
    standing.add(preview)
    local put = { id = preview.id, old = preview.region.old, lines = options.lines }
    put.below = options.below or false
    host.send('put', put)
  end
end

--- Show a preview as a diff if it is taller than its window, and the user waits for it.
---@param preview eca.Preview
local function if_tall(preview)
  local buf = preview.region.buf
  local is_here = vim.api.nvim_get_current_buf() == buf
  local height = preview.as_diff and math.huge or standing.height(preview)
  local tall = height > vim.api.nvim_win_get_height(0)
  if is_here and tall and preview.asked and not preview.asked.typed then
    M.show_diff(preview)
  elseif is_here and tall then
    local key = keys.of(buf, 'n', 'PreviewDiff')
    if key then
      notify.info(key .. ' shows the preview as a diff')
    end
  end
end

--- Show what the host says of a preview (op `preview`, or `place_answer`).
---@param op table<string, any>
function M.set(op)
  local preview = standing.by_id(op.id)
  if not preview or preview.state ~= 'streaming' then
    return
  elseif not vim.api.nvim_buf_is_valid(preview.region.buf) then
    return standing.close(preview) -- wiped out without autocommands
  elseif preview.answer then
    return question.received(preview, op)
  end
  preview.hunks, preview.state, preview.fault = op.hunks or {}, op.state, op.fault or ''
  preview.unseen = op.unseen or nil
  standing.draw(preview)
  if op.state ~= 'streaming' then
    standing.announce(preview, op.state)
  end
  if op.state == 'ready' then
    if_tall(preview)
  end
end

--- Called when the host is gone: nothing more comes.
function M.host_gone()
  for _, preview in ipairs(standing.all()) do
    preview.is_lost = true
    M.set({ id = preview.id, state = 'failed', fault = 'the plugin host has ended' })
  end
end

--- Show a preview as a diff in a tab page.
---@param preview eca.Preview
function M.show_diff(preview)
  side_by_side.open(preview, M)
end

-- What the user does with one --------------------------------------------------------------------

--- The hunk of a preview that is nearest to a row.
---@param preview eca.Preview
---@param row integer 0-based
---@return integer? number among the undecided ones
local function nearest(preview, row)
  local best, distance ---@type integer?, integer?
  for number, hunk in ipairs(preview.hunks) do
    local first, last = region.place(preview.region, hunk)
    if not first then
      first, last = region.around(preview.region, hunk)
    end
    local away = math.max(first - row, row - math.max(first, last - 1), 0)
    if not distance or away < distance then
      best, distance = number, away
    end
  end
  return best
end

--- The preview at the cursor, else the nearest one of the current buffer; in an answer, its own. Of
--- several the newest.
---@param is_answer? boolean default: of any kind
---@return eca.Preview?
function M.here(is_answer)
  for _, preview in ipairs(standing.all()) do
    if preview.answer and preview.answer.buf == vim.api.nvim_get_current_buf() then
      return preview
    end
  end
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local found, distance ---@type eca.Preview?, integer?
  for _, preview in ipairs(standing.in_buffer(vim.api.nvim_get_current_buf())) do
    local first, last = region.near(preview.region)
    local away = math.max(first - row, row - last + 1, 0)
    local is_meant = is_answer == nil or is_answer == (preview.answer ~= nil)
    if is_meant and (not distance or away <= distance) then
      found, distance = preview, away
    end
  end
  return found
end

--- Replace the old lines of hunks, the lowest first, as one undo step.
---@param preview eca.Preview
---@param hunks eca.PreviewHunk[]
---@return integer accepted
---@return string? fault
local function apply(preview, hunks)
  local done = {} ---@type table<eca.PreviewHunk, true>
  for place = #hunks, 1, -1 do
    local first, last = region.place(preview.region, hunks[place])
    if first then
      local buf = preview.region.buf
      local worked, fault =
        pcall(vim.api.nvim_buf_set_lines, buf, first, last, true, hunks[place].lines)
      if not worked then
        return vim.tbl_count(done), others.words(tostring(fault))
      end
      done[hunks[place]] = true
    end
  end
  preview.hunks = vim.tbl_filter(function(hunk)
    return not done[hunk]
  end, preview.hunks)
  return vim.tbl_count(done)
end

---@param preview eca.Preview
local function settle(preview)
  if #preview.hunks == 0 then
    standing.close(preview)
  else
    standing.draw(preview)
    standing.announce(preview, preview.state)
  end
end

---@class eca.PreviewOptions
---@field id? string default: that at the cursor, else the nearest in the current buffer
---@field hunk? integer its number in `previews()`; default: all

---@param options? eca.PreviewOptions
---@param is_answer? boolean see `M.here`
---@return eca.Preview?
local function meant(options, is_answer)
  local id = (options or {}).id
  for _, preview in ipairs(standing.all()) do
    standing.look(preview.region.buf)
  end
  local preview = id and standing.by_id(id) or not id and (M.here(is_answer) or M.here()) or nil
  if not preview then
    notify.info(id and ("no preview with the id '%s'"):format(id) or 'no preview in this buffer')
  end
  return preview
end

--- Accept a hunk, by its number in `previews()`, or all but the conflicts.
---@param options? eca.PreviewOptions
function M.accept(options)
  local preview = meant(options, false)
  if not preview then
    return
  elseif preview.answer then
    return notify.info('an answer changes nothing: its keys are in its border')
  elseif preview.state ~= 'ready' then
    local why = preview.state == 'streaming' and 'the answer is not complete yet' or preview.fault
    return notify.info('nothing accepted: ' .. why)
  end
  local number = (options or {}).hunk
  if number and not preview.hunks[number] then
    return notify.info(('no hunk %d in this preview'):format(number))
  end
  local hunks = number and { preview.hunks[number] } or preview.hunks
  local accepted, fault = apply(preview, hunks)
  settle(preview)
  if fault then
    notify.warn('not accepted: ' .. fault)
  elseif number and accepted == 0 then
    notify.warn('not accepted: you have edited these lines')
  elseif #preview.hunks > 0 and not number then
    local rest = #preview.hunks == 1 and '1 conflict is' or #preview.hunks .. ' conflicts are'
    notify.warn(rest .. ' left: you have edited these lines')
  end
end

--- Reject a hunk, by its number in `previews()`, or all: they are dropped, and what still comes.
---@param options? eca.PreviewOptions
function M.drop(options)
  local preview = meant(options)
  local number = (options or {}).hunk
  if not preview then
    return
  elseif number and preview.state == 'ready' then
    table.remove(preview.hunks, number)
    return settle(preview)
  end
  standing.close(preview)
end

--- Accept the hunk nearest to the cursor, or drop it.
---@param act 'accept'|'drop'
function M.act_here(act)
  local preview = meant(nil, false)
  if preview and preview.answer then
    M.accept({ id = preview.id }) -- says that there is no hunk
  elseif preview then
    local row = vim.api.nvim_win_get_cursor(0)[1] - 1
    M[act]({ id = preview.id, hunk = nearest(preview, row) })
  end
end

--- Ask again for what a preview was asked, or for something else.
---@param preview eca.Preview
---@param prompt? string default: as before
---@return string? id of the new preview
function M.retry(preview, prompt)
  local first, last = region.rows(preview.region)
  if not first or not preview.passage or not standing.by_id(preview.id) then
    return
  end
  standing.close(preview)
  return M.rewrite({
    buf = preview.region.buf,
    range = { first + 1, last },
    prompt = prompt or preview.passage.prompt,
    server = preview.passage.server,
    asked = return_window.asked(),
  })
end

---@class eca.PublicPreview
---@field id string
---@field kind 'rewrite'|'ask'|'put'
---@field buf integer
---@field state eca.PreviewState
---@field hunks eca.PublicHunk[] those that are undecided

---@class eca.PublicHunk
---@field first? integer line of the buffer, 1-based; nil: a conflict
---@field last? integer below `first`: the new lines go above that line
---@field lines string[]

--- The previews, oldest first.
---@return eca.PublicPreview[]
function M.previews()
  for _, preview in ipairs(standing.all()) do
    standing.look(preview.region.buf)
  end
  return vim.tbl_map(function(preview)
    local public = { id = preview.id, kind = preview.kind, state = preview.state, hunks = {} }
    public.buf = preview.region.buf
    for number, hunk in ipairs(preview.hunks) do
      local first, last = region.place(preview.region, hunk)
      public.hunks[number] = { first = first and first + 1, last = last, lines = hunk.lines }
    end
    return public
  end, standing.all())
end

return M
