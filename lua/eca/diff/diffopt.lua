--- The options of all diffs ('diffopt', 'diffexpr') while the diff of a request is looked at.
---
--- Rules kept here:
--- - A change is a change: nothing that the user ignores elsewhere (blanks, case) hides one, and
---   no program of theirs decides.
--- - They are given back when the tab page is left, and so is what the user sets meanwhile.
local M = {}

local HIDING = { 'anchor', 'iblank', 'icase', 'iwhite', 'iwhiteall', 'iwhiteeol' }

local theirs ---@type { diffopt: string, diffexpr: string }? while ours are set

---@param value string of 'diffopt'
---@return string
local function without_hiding(value)
  local items = vim.tbl_filter(function(item)
    return item ~= '' and not vim.list_contains(HIDING, item)
  end, vim.split(value, ','))
  for _, item in ipairs({ 'internal', 'filler' }) do
    items[#items + 1] = not vim.list_contains(items, item) and item or nil
  end
  return table.concat(items, ',')
end

--- Set ours.
function M.take()
  theirs = theirs or { diffopt = vim.o.diffopt, diffexpr = vim.o.diffexpr }
  vim.o.diffopt, vim.o.diffexpr = without_hiding(theirs.diffopt), ''
end

--- Called when the user has set one of them.
function M.changed()
  if theirs then
    local ours = without_hiding(theirs.diffopt)
    theirs.diffopt = vim.o.diffopt ~= ours and vim.o.diffopt or theirs.diffopt
    theirs.diffexpr = vim.o.diffexpr ~= '' and vim.o.diffexpr or theirs.diffexpr
    M.take()
  end
end

--- Give theirs back.
function M.give_back()
  if theirs then
    vim.o.diffopt, vim.o.diffexpr = theirs.diffopt, theirs.diffexpr
    theirs = nil
  end
end

return M
