--- The undo tree of a buffer, and the options for writing it, undone and redone with its text.
---
--- Rules kept here:
--- - Neovim undoes text alone. An edit that changes such options, too, is remembered by its number
---   in the undo tree; when the text moves to the other side of it, the options follow.
--- - Edits are numbered in the order they were made; 0 is before the first.
--- - Only the options that the edit changed are set; the others are the user's.
--- - An edit that has left the undo tree is forgotten; a buffer without such edits is not watched.
local M = {}

---@class eca.UndoPlace where a text is in the undo tree of its buffer
---@field current integer number of the latest edit in the text
---@field newest integer number of the latest edit on any branch
---@field known table<integer, integer> for each edit the one before it on its branch
---@field made table<integer, true> the edits that are in the text

---@param entries { seq: integer, alt?: table[] }[] as `undotree()` gives them
---@param above integer
---@param found table<integer, integer>
---@return table<integer, integer> found
local function parents(entries, above, found)
  for _, entry in ipairs(entries) do
    parents(entry.alt or {}, above, found)
    found[entry.seq], above = above, entry.seq
  end
  return found
end

---@param buf integer
---@return eca.UndoPlace
function M.place(buf)
  local tree = vim.fn.undotree(buf)
  local known, made = parents(tree.entries, 0, {}), {} ---@type table, table<integer, true>
  local edit = tree.seq_cur ---@type integer?
  while edit do
    made[edit], edit = true, known[edit]
  end
  return { current = tree.seq_cur, newest = tree.seq_last, known = known, made = made }
end

--- Start a new edit in a buffer. Without this, an edit of ours would join the latest one, as no key
--- is typed in the buffer in between.
---@param buf integer
function M.part(buf)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

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
  local edit = { number = M.place(buf).current, before = {}, after = {}, made = true }
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
  local place, options = M.place(buf), {} ---@type eca.UndoPlace, eca.WriteOptions
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
  local newest = M.place(buf).newest
  watches[buf] = { edits = edits, newest = newest, options = current(buf) }
end

---@param event { id: integer, buf: integer, event: string }
local function follow(event)
  local buf, watch = event.buf, watches[event.buf]
  local edits = cross(buf, watch.edits)
  if event.event == 'BufReadPost' and M.place(buf).current > watch.newest then
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
