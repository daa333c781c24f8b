--- Keeps the list of changes right after an undo: the rows of what was undone say so. Other changes
--- in the same files may be at other lines now, or gone with them.
local host = require('eca.host')
local notes = require('eca.review.notes')

local M = {}

--- Mark the changes that were undone, or redone, and ask the host where the others are now.
---@param review eca.Review
---@param plan eca.UndoPlan
---@param files string[] absolute paths
---@param refresh fun(lines?: table<string, integer>) draws the rows again, with their lines by key
function M.follow(review, plan, files, refresh)
  local words = notes.words(review.chat)
  for key, change in pairs(review.changes) do
    if vim.list_contains(plan.turns, change.turn) and vim.list_contains(files, change.path) then
      words[key] = not plan.again and 'undone' or nil
    end
  end
  refresh()
  host.ask('changes', { chat = review.chat }, function(listed)
    if not listed then
      return
    end
    local lines = {} ---@type table<string, integer>
    for _, change in
      ipairs(listed --[[@as eca.Change[] ]])
    do
      local known = review.changes[change.key]
      if known then
        lines[change.key] = change.line
        for field, value in pairs(change) do
          known[field] = value
        end
      end
    end
    for key, change in pairs(review.changes) do
      local is_ours = change.kind == 'turn' or change.kind == 'comment'
      if not is_ours and not lines[key] then
        words[key] = words[key] or 'gone'
      elseif words[key] == 'gone' then
        words[key] = nil
      end
    end
    refresh(lines)
  end)
end

return M
