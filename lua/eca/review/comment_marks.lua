--- Comments in the buffers of their files: virtual lines below the lines that they are about.
---
--- Rules kept here:
--- - The buffer is untouched. A mark moves with the text until the host names another line.
--- - In a diff nothing is drawn: virtual lines would shift it.
local paths = require('eca.files.paths')
local virtual_lines = require('eca.ui.virtual_lines')

local M = {}

local namespace = vim.api.nvim_create_namespace('eca.review.comments')

local BAR = '▎ '

---@type table<eca.CommentState, eca.Segment>
local STATES = {
  unsent = { 'not sent', 'EcaWaiting' },
  sent = { 'sent', 'EcaRunning' },
  open = { 'open', 'EcaWarning' },
  addressed = { 'addressed', 'EcaToolDone' },
}

--- What is said of the state of a comment.
---@param comment eca.Comment
---@return string
function M.state(comment)
  return STATES[comment.state][1]
end

---@class eca.CommentMark
---@field mark integer extmark
---@field line integer as the host said when it was drawn

local by_path = {} ---@type table<string, eca.Comment[]> normalized
local drawn = {} ---@type table<integer, table<string, eca.CommentMark>> by buffer and comment

---@param buf integer
---@param comment eca.Comment
---@return eca.VirtualLine[]
local function lines_of(buf, comment)
  local cells, tab = virtual_lines.text_width(buf) - vim.api.nvim_strwidth(BAR), vim.bo[buf].tabstop
  local lines = {} ---@type eca.VirtualLine[]
  local texts = vim.split(comment.text, '\n', { plain = true })
  for index, text in ipairs(texts) do
    local segments = {} ---@type eca.Segment[]
    for word in virtual_lines.shown(text, 0, tab):gmatch(' *[^ ]+') do
      segments[#segments + 1] = { word, '', needs = vim.api.nvim_strwidth(word) }
    end
    if index == #texts then
      local words = STATES[comment.state]
      segments[#segments + 1] = { '  ' .. words[1], words[2], needs = #words[1] + 2 }
    end
    for _, line in ipairs(virtual_lines.wrap(segments, cells)) do
      table.insert(line, 1, { BAR, 'EcaUserBar' })
      lines[#lines + 1] = line
    end
  end
  return lines
end

---@param buf integer
---@param comment eca.Comment
---@param before? eca.CommentMark
---@return eca.CommentMark
local function draw_one(buf, comment, before)
  local last = comment.line + math.max(comment.count, 1) - 2
  local row = math.max(0, math.min(last, vim.api.nvim_buf_line_count(buf) - 1))
  if before and before.line == comment.line then
    row = vim.api.nvim_buf_get_extmark_by_id(buf, namespace, before.mark, {})[1] or row
  end
  local options = { virt_lines = lines_of(buf, comment), id = before and before.mark }
  local mark = vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, options)
  return { mark = mark, line = comment.line }
end

---@param buf integer
local function draw(buf)
  local comments = by_path[paths.of_buffer(buf) or ''] or {}
  local before, now = drawn[buf] or {}, {} ---@type table<string, eca.CommentMark>
  if not virtual_lines.is_in_diff(buf) then
    for _, comment in ipairs(comments) do
      now[comment.id] = draw_one(buf, comment, before[comment.id])
    end
  end
  for id, mark in pairs(before) do
    if not now[id] then
      vim.api.nvim_buf_del_extmark(buf, namespace, mark.mark)
    end
  end
  drawn[buf] = next(now) and now or nil
end

---@param event { event: string, buf: integer }
local function follow(event)
  if event.event == 'BufReadPost' then -- the marks are where the old text was
    vim.api.nvim_buf_clear_namespace(event.buf, namespace, 0, -1)
    drawn[event.buf] = nil
  end
  draw(event.buf)
end

local function draw_all()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) then
      draw(buf)
    end
  end
end

local group ---@type integer?

--- Follow buffers and windows as long as there are comments.
---@param is_needed boolean
local function watch(is_needed)
  if is_needed and not group then
    group = vim.api.nvim_create_augroup('eca.review.comments', {})
    local events = { 'BufReadPost', 'BufWinEnter' }
    vim.api.nvim_create_autocmd(events, { group = group, callback = follow })
    vim.api.nvim_create_autocmd({ 'WinResized', 'OptionSet' }, {
      group = group,
      callback = function(event)
        if event.event == 'WinResized' or event.match == 'diff' then
          draw_all()
        end
      end,
    })
  elseif group and not is_needed then
    vim.api.nvim_del_augroup_by_id(group)
    group = nil
  end
end

--- Show comments in the buffers of their files, instead of those before.
---@param comments eca.Comment[]
function M.set(comments)
  by_path = {}
  for _, comment in ipairs(comments) do
    if comment.subject == '' then
      local path = paths.normalize(comment.paths[1])
      by_path[path] = by_path[path] or {}
      table.insert(by_path[path], comment)
    end
  end
  for buf in pairs(drawn) do
    if not vim.api.nvim_buf_is_loaded(buf) then
      drawn[buf] = nil
    end
  end
  watch(next(by_path) ~= nil)
  if next(by_path) or next(drawn) then
    draw_all()
  end
end

return M
