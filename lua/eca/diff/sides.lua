--- The two buffers of a diff: the real file if it can be one of them, scratch buffers otherwise.
---
--- Rules kept here:
--- - While a request waits, the current version is a copy that cannot be changed: `do`, `dp` and
---   typing change the proposal and nothing else. Of a change that was made it is the real file's
---   buffer, without a mapping or an option of ours. A buffer that was opened only for the diff is
---   closed again, unless the user changed it.
--- - Text of the agent is the content of a scratch buffer; its path is text, never a command.
local comfort = require('eca.host.comfort')
local edits = require('eca.diff.edits')
local files = require('eca.files')
local others = require('eca.ui.others')
local paths = require('eca.files.paths')
local sanitize = require('eca.ui.sanitize')

local M = {}

local MOST_INVISIBLE = 1000

local namespace = vim.api.nvim_create_namespace('eca.unseen')

---@class eca.Diff
---@field chat string
---@field id string of the tool call, checkpoint or conflict it shows
---@field path string
---@field before string whole file
---@field after string whole file, or raw hunks if `fault` is set
---@field kind 'changed'|'new'|'deleted'|'moved'
---@field request? eca.Request the pending request, as these texts show it
---@field fault? string why it cannot be shown side by side
---@field remark? string lines about what the two texts do not show
---@field file? { block: integer, place: integer, count: integer } which file of the block's call it
---  is (0-based), if there are several
---@field buf? integer of the text that may become `after`, which is not proposed by a tool call
---@field actions? eca.Choice[] keys for that
---@field captions? [string, string] names of the sides, unless they show a tool call
---@field is_open? boolean the user may choose hunks, and edit the text
---@field left_out? [integer, integer][] lines of `after` without a hunk, and the hunks' numbers

---@class eca.DiffSides
---@field left integer buffer
---@field right integer buffer
---@field bound integer the scratch buffer with the keys
---@field tick integer changedtick of `bound` when it was created
---@field real? integer the file's own buffer
---@field added? boolean `real` was created for the diff

--- A buffer's name for the tab line and the status line: the file name and the side.
---@param path string
---@param side string
---@return string
local function name_of(path, side)
  local file = sanitize.line(vim.fs.basename(path))
  local name, number = ('%s (%s)'):format(file, side), 1
  while vim.fn.bufexists('eca://' .. name) == 1 do
    number = number + 1
    name = ('%s (%s %d)'):format(file, side, number)
  end
  return name
end

--- Show invisible characters written out, as virtual text beside them.
---@param buf integer
---@param lines string[]
local function show_invisible(buf, lines)
  local left = MOST_INVISIBLE
  for row, line in ipairs(lines) do
    for _, found in ipairs(left > 0 and sanitize.invisible(line) or {}) do
      vim.api.nvim_buf_set_extmark(buf, namespace, row - 1, found.column, {
        virt_text = { { found.text, 'EcaWarning' } },
        virt_text_pos = 'inline',
      })
      left = left - 1
    end
  end
end

---@param diff eca.Diff
---@param side string
---@param text string
---@return integer buf
local function scratch(diff, side, text)
  local buf = others.create_buf()
  local lines, format, ends = edits.decode(text)
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].undolevels = -1
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].undolevels = vim.o.undolevels
  vim.bo[buf].fileformat = format
  vim.bo[buf].endofline = ends or text == ''
  show_invisible(buf, lines)
  files.name(buf, name_of(diff.path, side))
  others.set('FileType', buf, 'filetype', 'eca-diff')
  return buf
end

--- The real file's buffer, if its text is just what the diff says is the current version.
---@param diff eca.Diff
---@param text string
---@return integer? buf, boolean? added
local function real_file(diff, text)
  if diff.fault or files.refusal(diff.path) then
    return nil
  end
  local buf, added = files.load(diff.path)
  local now = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  local wanted = edits.decode(text)
  if vim.deep_equal(now, #wanted > 0 and wanted or { '' }) then
    return buf, added
  end
  M.put_away({ real = buf, added = added })
end

--- Highlight a scratch buffer as the real buffer is, by tree-sitter or by its syntax; without one
--- by the syntax of the file's type.
---@param buf integer
---@param diff eca.Diff
---@param real? integer
local function colour(buf, diff, real)
  real = real or paths.buffer_of(diff.path)
  local syntax = real and vim.bo[real].syntax
    or vim.filetype.match({ filename = diff.path, buf = buf })
  local highlighter = real and vim.treesitter.highlighter.active[real]
  if not highlighter or not pcall(vim.treesitter.start, buf, highlighter.tree:lang()) then
    others.set('Syntax', buf, 'syntax', syntax or '')
  end
end

--- The proposed text, in the buffer in which the user has edited it.
---@param diff eca.Diff
---@param side string
---@return integer buf
local function proposed(diff, side)
  return edits.take(diff) or scratch(diff, side, diff.after)
end

--- Create the two buffers of a diff.
---@param diff eca.Diff
---@return eca.DiffSides
function M.make(diff)
  local is_proposed = diff.request or diff.buf
  local real, added = diff.buf, false
  if not is_proposed then
    real, added = real_file(diff, diff.after)
  end
  local sides = { real = real, added = added } ---@type eca.DiffSides
  if diff.fault then
    sides.left = scratch(diff, 'now', diff.before)
    sides.right = proposed(diff, 'hunks')
    sides.bound = sides.right
    others.set('Syntax', sides.right, 'syntax', 'diff')
  elseif is_proposed then
    sides.left = real or scratch(diff, 'now', diff.before)
    sides.right = proposed(diff, 'proposed')
    sides.bound = sides.right
    vim.bo[sides.left].modifiable = real ~= nil
  else
    local names = diff.captions or { 'before', 'after' }
    sides.left = scratch(diff, names[1], diff.before)
    sides.right = real or scratch(diff, names[2], diff.after)
    sides.bound = sides.left
  end
  for _, buf in ipairs({ sides.left, sides.right }) do
    if buf ~= real and not (diff.fault and buf == sides.right) then
      comfort.try('a side of the diff has no colours', colour, buf, diff, real)
    end
  end
  sides.tick = vim.api.nvim_buf_get_changedtick(sides.bound)
  return sides
end

--- Called when the diff is closed: closes a file that was opened for it, unless the user changed
--- it.
---@param sides { real?: integer, added?: boolean }
function M.put_away(sides)
  local buf = sides.real
  if not buf or not sides.added or not vim.api.nvim_buf_is_valid(buf) then
    return
  end
  if vim.bo[buf].modified then
    vim.bo[buf].buflisted = true
  elseif #vim.fn.win_findbuf(buf) == 0 and not vim.bo[buf].buflisted then
    vim.api.nvim_buf_delete(buf, {})
  end
end

return M
