--- Changes of tools in the buffer of their file: found there, and taken back.
---
--- Rules kept here:
--- - A change is where its lines are, between the lines that were around it: the place nearest to
---   where it was last seen. What is not found is not touched.
--- - Taking back is one edit of the buffer, with undo. Nothing is written.
local paths = require('eca.paths')

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

--- The end of the last line, which no edit of lines tells.
---@param buf integer
---@param change eca.Change
local function restore_end(buf, change)
  if not change.before_ends then
    vim.bo[buf].endofline, vim.bo[buf].fixendofline = false, false
  elseif not change.after_ends then
    vim.bo[buf].endofline = true
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

--- Take a change back in the buffer of its file, which is loaded when it is not.
---@param change eca.Change
---@param near integer 1-based
---@return boolean reverted false: the change is not there any more
function M.revert(change, near)
  local buf = paths.load(change.path)
  local first = M.find(buf, change, near)
  if not first then
    return false
  end
  mix_ends(buf, change)
  local last = first + #change.after
  local empty = #change.after + #change.above + #change.below == 0
  vim.bo[buf].buflisted = true
  local before = adapted(buf, change.before)
  vim.api.nvim_buf_set_lines(buf, first, empty and -1 or last, true, before)
  restore_end(buf, change)
  if change.latin1 and table.concat(before):find('[\128-\255]') then
    vim.bo[buf].fileencoding = 'latin1'
  end
  return true
end

return M
