--- The options for writing a buffer, undone and redone together with its text.
---
--- Rules kept here:
--- - Neovim undoes text alone. An edit that changes such options, too, is remembered by its number
---   in the undo tree; when the text moves to the other side of it, the options follow.
--- - Only the options that the edit changed are set; the others are the user's.
--- - An edit that has left the undo tree is forgotten; a buffer without such edits is not watched.
local undo_tree = require('eca.review.undo_tree')

local M = {}

local NAMES = { 'fileformat', 'endofline', 'fixendofline', 'fileencoding', 'bomb' }
local EVENTS = { 'TextChanged', 'TextChangedI', 'BufReadPost', 'BufWritePre', 'BufWipeout' }

---@alias eca.WriteOptions table<string, string|boolean> by name

---@class eca.OptionEdit an edit that changed options, or a part of one
---@field number integer in the undo tree
---@field before eca.WriteOptions
---@field after eca.WriteOptions
---@field made boolean false: it is undone

---@class eca.OptionWatch of a buffer
---@field edits eca.OptionEdit[] the oldest first
---@field newest integer number of the newest edit of any kind at the last check
---@field options eca.WriteOptions then

local watches = {} ---@type table<integer, eca.OptionWatch?> by buffer

--- The options now; a last line without a line break is written without one.
---@param buf integer
---@return eca.WriteOptions
local function current(buf)
  local found = {} ---@type eca.WriteOptions
  for _, name in ipairs(NAMES) do
    found[name] = vim.bo[buf][name]
  end
  found.fixendofline = found.fixendofline and found.endofline
  return found
end

--- Remember the options that the latest edit of a buffer changed.
---@param buf integer
---@param edits eca.OptionEdit[]
---@param options eca.WriteOptions before it
local function note(buf, edits, options)
  local edit = { number = undo_tree.place(buf).current, before = {}, after = {}, made = true }
  for name, value in pairs(current(buf)) do
    if value ~= options[name] then
      edit.before[name], edit.after[name] = options[name], value
    end
  end
  if next(edit.after) then
    edits[#edits + 1] = edit
  end
end

--- Set the options for the side of each edit that the text is on now.
---@param buf integer
---@param edits eca.OptionEdit[]
---@return eca.OptionEdit[] edits those that are in the undo tree
local function cross(buf, edits)
  local place, options = undo_tree.place(buf), {} ---@type eca.UndoPlace, eca.WriteOptions
  edits = vim.tbl_filter(function(edit)
    return place.known[edit.number] ~= nil
  end, edits)
  for _, edit in vim.iter(edits):rev():enumerate() do
    if edit.made and not place.made[edit.number] then
      options = vim.tbl_extend('force', options, edit.before)
    end
  end
  for _, edit in ipairs(edits) do
    if place.made[edit.number] and not edit.made then
      options = vim.tbl_extend('force', options, edit.after)
    end
    edit.made = place.made[edit.number] ~= nil
  end
  for name, value in pairs(options) do
    vim.bo[buf][name] = value
  end
  return edits
end

---@param buf integer
---@param edits eca.OptionEdit[]
local function look(buf, edits)
  local newest = undo_tree.place(buf).newest
  watches[buf] = { edits = edits, newest = newest, options = current(buf) }
end

---@param event { id: integer, buf: integer, event: string }
local function follow(event)
  local buf, watch = event.buf, watches[event.buf]
  local edits = cross(buf, watch.edits)
  if event.event == 'BufReadPost' and undo_tree.place(buf).current > watch.newest then
    note(buf, edits, watch.options) -- undo can go back to before the reload
  end
  look(buf, edits)
  if #edits == 0 or event.event == 'BufWipeout' then
    watches[buf] = nil
    vim.api.nvim_del_autocmd(event.id)
  end
end

--- Set the options for the text of a buffer before the event of its change comes.
---@param buf integer
function M.settle(buf)
  local watch = watches[buf]
  if watch then
    watch.edits = cross(buf, watch.edits)
  end
end

--- Edit a buffer; the options that the edit changes are undone with it.
---@param buf integer
---@param edit fun()
function M.remember(buf, edit)
  local options, watch = current(buf), watches[buf]
  edit()
  local edits = watch and watch.edits or {}
  note(buf, edits, options)
  if watch or #edits > 0 then
    look(buf, edits)
  end
  if not watch and #edits > 0 then
    vim.api.nvim_create_autocmd(EVENTS, { buffer = buf, callback = follow })
  end
end

return M
