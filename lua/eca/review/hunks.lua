--- Finds the changes of tools in the buffers of their files, and reverts them.
---
--- Rules kept here:
--- - A change is found by its lines and the lines around it, at the place nearest to its last known
---   line. If it is not found, nothing is changed.
--- - A revert is one edit of the buffer, and undo restores everything it changes. No file is
---   written.
local files = require('eca.files')
local paths = require('eca.files.paths')
local undo_tree = require('eca.review.undo_tree')

local M = {}

---@class eca.Change from the host's list
---@field key string
---@field turn integer
---@field prompt string of that turn
---@field path string
---@field kind 'lines'|'new'|'deleted'|'moved'|'other'|'turn'|'comment' the last are rows of our own
---@field comment? eca.Comment
---@field line integer 1-based
---@field added integer
---@field removed integer
---@field text string one line to show
---@field origin? string old path of a moved file
---@field count? integer lines after the change
---@field before? string[]
---@field after? string[]
---@field above? string[] lines around it
---@field below? string[]
---@field before_ends? boolean false: without a newline at the end of the file
---@field after_ends? boolean
---@field latin1? boolean the file was in Latin-1 before
---@field fault? string why its file is not opened; set by the view
---@field keys? string[] of a change that is not reviewed: all that are kept with it
---@field old_parts? [integer, integer, integer][] of it: what differs in `before`: line and bytes
---@field new_parts? [integer, integer, integer][] the same in `after`

--- Lines as this buffer holds them: without carriage returns if its file format is `dos`.
---@param buf integer
---@param lines string[]
---@return string[]
function M.adapted(buf, lines)
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

--- Are the lines of a change in its buffer from a row on?
---@param buf integer
---@param change eca.Change
---@param first integer 0-based
---@return boolean
function M.stands(buf, change, first)
  local count = vim.api.nvim_buf_line_count(buf)
  local lines = vim.api.nvim_buf_get_lines(buf, first, first + #change.after, false)
  return first <= count and vim.deep_equal(lines, M.adapted(buf, change.after))
end

--- The place of some lines that is nearest to a given row.
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

--- The place of some lines, if there is only one.
---@param lines string[]
---@param wanted string[]
---@return integer? first 0-based
local function only(lines, wanted)
  local found = #wanted > 0 and nearest(lines, wanted, 0) or nil
  if found and not nearest({ unpack(lines, found + 2) }, wanted, 0) then
    return found
  end
end

--- What to search for, the most certain first: the change with all lines around it, then with one
--- line on each side.
---@param buf integer
---@param change eca.Change
---@return { lines: string[], skip: integer }[] `skip`: number of lines above the change
local function patterns(buf, change)
  local above, below = M.adapted(buf, change.above), M.adapted(buf, change.below)
  local list = {} ---@type { lines: string[], skip: integer }[]
  for _, around in ipairs({ math.huge, 1 }) do
    local over = { unpack(above, math.max(1, #above - around + 1)) }
    local under = { unpack(below, 1, math.min(#below, around)) }
    local lines = vim.list_extend(vim.list_extend({}, over), M.adapted(buf, change.after))
    list[#list + 1] = { lines = vim.list_extend(lines, under), skip = #over }
  end
  return list
end

--- Where the lines of a change are in its buffer.
---@param buf integer
---@param change eca.Change
---@param near integer 1-based last known line
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
  return only(lines, M.adapted(buf, change.after))
end

--- Restore the newline at the end of the file, or its absence, which is not part of the lines.
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

--- Restore the encoding Latin-1 if it can encode the whole buffer.
---@param buf integer
---@param change eca.Change
local function restore_encoding(buf, change)
  local text = change.latin1 and table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, true)) or ''
  if text:find('[\128-\255]') and not text:find('[\196-\255]') then -- none above U+00FF
    vim.bo[buf].fileencoding = 'latin1'
  end
end

--- If the restored lines mix line ends, make the carriage returns part of the buffer's lines.
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
  vim.api.nvim_buf_set_lines(buf, first, last, true, M.adapted(buf, change.before))
  restore_end(buf, change)
  restore_encoding(buf, change)
end

--- Begin reverting: in each buffer, all reverts from now on are undone together and separately from
--- earlier edits.
---@param changes eca.Change[]
function M.begin(changes)
  for _, change in ipairs(changes) do
    local buf = paths.buffer_of(change.path)
    if buf then
      undo_tree.settle(buf)
      undo_tree.part(buf)
    end
  end
end

--- Revert a change in the buffer of its file, which is loaded if it is not yet.
---@param change eca.Change
---@param near integer 1-based
---@param is_there? boolean it is surely at that line, if its lines are
---@return boolean reverted false: the change was not found
function M.revert(change, near, is_there)
  local buf = files.load(change.path)
  local first = near - 1 ---@type integer?
  if not is_there then
    first = M.find(buf, change, near)
  elseif not M.stands(buf, change, near - 1) then
    first = nil
  end
  if not first then
    return false
  end
  vim.bo[buf].buflisted = true
  undo_tree.remember(buf, function()
    put_back(buf, change, first)
  end)
  return true
end

return M
