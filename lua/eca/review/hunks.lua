--- Changes of tools in the buffer of their file: found there, and taken back.
---
--- Rules kept here:
--- - A change is where its lines are, between the lines that were around it: the place nearest to
---   where it was last seen. What is not found is not touched.
--- - Taking back is one edit of the buffer, with undo of all that it changes. Nothing is written.
local files = require('eca.files')
local paths = require('eca.files.paths')
local undo_options = require('eca.review.undo_options')
local undo_tree = require('eca.review.undo_tree')

local M = {}

---@class eca.Change as the host lists it
---@field key string
---@field turn integer
---@field prompt string what the user said in that turn
---@field path string
---@field kind 'lines'|'new'|'deleted'|'moved'|'other'|'turn' `turn`: our own line for all of it
---@field line integer 1-based
---@field added integer
---@field removed integer
---@field text string a line to show
---@field origin? string where it was moved from
---@field count? integer lines it has now
---@field before? string[]
---@field after? string[]
---@field above? string[] lines around it
---@field below? string[]
---@field before_ends? boolean false: without the last line feed
---@field after_ends? boolean
---@field lost? boolean its lines were changed again
---@field latin1? boolean the file was before
---@field fault? string why its file is not opened (ours)

--- Lines as this buffer holds them: with carriage returns only where the file is not all of them.
---@param buf integer
---@param lines string[]
---@return string[]
local function adapted(buf, lines)
  if vim.bo[buf].fileformat ~= 'dos' then
    return lines
  end
  return vim.tbl_map(function(line)
    return (line:gsub('\r$', ''))
  end, lines)
end

---@param lines string[]
---@param wanted string[]
---@param first integer 0-based
---@return boolean
local function is_at(lines, wanted, first)
  if first < 0 or first + #wanted > #lines then
    return false
  end
  for index, line in ipairs(wanted) do
    if lines[first + index] ~= line then
      return false
    end
  end
  return true
end

--- The place nearest to another one where some lines are.
---@param lines string[]
---@param wanted string[]
---@param near integer 0-based
---@return integer? first 0-based
local function nearest(lines, wanted, near)
  for away = 0, math.max(near, #lines - near) do
    for _, first in ipairs({ near + away, near - away }) do
      if is_at(lines, wanted, first) then
        return first
      end
    end
  end
end

--- The only place where some lines are.
---@param lines string[]
---@param wanted string[]
---@return integer? first 0-based
local function only(lines, wanted)
  local found = #wanted > 0 and nearest(lines, wanted, 0) or nil
  if found and not nearest({ unpack(lines, found + 2) }, wanted, 0) then
    return found
  end
end

--- What is looked for, the surest first: the change among more or fewer lines around it.
---@param buf integer
---@param change eca.Change
---@return { lines: string[], skip: integer }[] `skip`: how many of them are above it
local function patterns(buf, change)
  local above, below = adapted(buf, change.above), adapted(buf, change.below)
  local list = {} ---@type { lines: string[], skip: integer }[]
  for _, around in ipairs({ math.huge, 1 }) do
    local over = { unpack(above, math.max(1, #above - around + 1)) }
    local under = { unpack(below, 1, math.min(#below, around)) }
    local lines = vim.list_extend(vim.list_extend({}, over), adapted(buf, change.after))
    list[#list + 1] = { lines = vim.list_extend(lines, under), skip = #over }
  end
  return list
end

--- Where the lines of a change are in its buffer.
---@param buf integer
---@param change eca.Change
---@param near integer 1-based line where it was last seen
---@return integer? first 0-based
function M.find(buf, change, near)
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, true)
  if #change.after + #change.above + #change.below == 0 then
    return #lines == 1 and lines[1] == '' and 0 or nil
  end
  for _, pattern in ipairs(patterns(buf, change)) do
    local first = #pattern.lines > 0 and nearest(lines, pattern.lines, near - 1 - pattern.skip)
    if first then
      return first + pattern.skip
    end
  end
  return only(lines, adapted(buf, change.after))
end

--- The end of the last line, which no edit of lines tells. A file that has none gets none.
---@param buf integer
---@param change eca.Change
local function restore_end(buf, change)
  if not change.before_ends then
    vim.bo[buf].endofline = false
  elseif not change.after_ends then
    vim.bo[buf].endofline = true
  end
  if not vim.bo[buf].endofline then
    vim.bo[buf].fixendofline = false
  end
end

--- The encoding, once all that is in the buffer has a place in it.
---@param buf integer
---@param change eca.Change
local function restore_encoding(buf, change)
  local text = change.latin1 and table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, true)) or ''
  if text:find('[\128-\255]') and not text:find('[\196-\255]') then -- none above U+00FF
    vim.bo[buf].fileencoding = 'latin1'
  end
end

--- A file whose lines all end in a carriage return is to have some again that do not: from now on
--- they are part of the buffer's lines.
---@param buf integer
---@param change eca.Change
local function mix_ends(buf, change)
  local all = vim.iter(change.before):all(function(line)
    return line:sub(-1) == '\r'
  end)
  if vim.bo[buf].fileformat ~= 'dos' or all then
    return
  end
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, true)
  for index, line in ipairs(lines) do
    if index < #lines or vim.bo[buf].endofline then
      lines[index] = line .. '\r'
    end
  end
  vim.api.nvim_buf_set_lines(buf, 0, -1, true, lines)
  vim.bo[buf].fileformat = 'unix'
end

---@param buf integer
---@param change eca.Change
---@param first integer 0-based
local function put_back(buf, change, first)
  mix_ends(buf, change)
  local empty = #change.after + #change.above + #change.below == 0
  local last = empty and -1 or first + #change.after
  vim.api.nvim_buf_set_lines(buf, first, last, true, adapted(buf, change.before))
  restore_end(buf, change)
  restore_encoding(buf, change)
end

--- Begin to take changes back: what is taken back of a buffer from now on is undone at once, and by
--- itself.
---@param changes eca.Change[]
function M.begin(changes)
  for _, change in ipairs(changes) do
    local buf = paths.buffer_of(change.path)
    if buf then
      undo_options.settle(buf)
      undo_tree.part(buf)
    end
  end
end

--- Take a change back in the buffer of its file, which is loaded when it is not.
---@param change eca.Change
---@param near integer 1-based
---@return boolean reverted false: the change is not there any more
function M.revert(change, near)
  local buf = files.load(change.path)
  local first = M.find(buf, change, near)
  if not first then
    return false
  end
  vim.bo[buf].buflisted = true
  undo_options.remember(buf, function()
    put_back(buf, change, first)
  end)
  return true
end

return M
