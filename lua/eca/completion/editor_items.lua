--- What only the editor knows and can be completed.
local M = {}

--- The items for a trigger.
---@param _trigger eca.CompletionTrigger
---@return eca.CompletionItem[]
function M.list(_trigger)
  return {}
end

return M
