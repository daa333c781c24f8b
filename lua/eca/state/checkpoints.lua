--- The checkpoints before prompts, as the host said last.
local mirror = require('eca.state.mirror')

local M = {}

---@class eca.PublicCheckpoint
---@field id string
---@field chat string
---@field turn integer
---@field prompt string its first 1,000 characters
---@field time integer seconds since 1970
---@field files string[] paths that its turn has changed, empty until the turn ends

local known = {} ---@type table<string, eca.PublicCheckpoint> by id

--- Op `checkpoints`.
---@param items eca.PublicCheckpoint[] new or changed
---@param gone string[] ids
---@param whole? boolean there are no others
function M.set(items, gone, whole)
  known = whole and {} or known
  for _, item in ipairs(mirror.clean(items)) do
    known[item.id] = item
  end
  for _, id in ipairs(gone) do
    known[id] = nil
  end
end

--- All of them, the newest first.
---@return eca.PublicCheckpoint[]
function M.list()
  local found = vim.deepcopy(vim.tbl_values(known))
  table.sort(found, function(one, other)
    if one.time ~= other.time then
      return one.time > other.time
    end
    return one.id > other.id -- begins with its time, more precisely
  end)
  return found
end

return M
