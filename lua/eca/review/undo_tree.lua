--- The undo tree of a buffer: edits by number, in the order they were made; 0 is before the first.
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

return M
