--- Keeps the list of changes right after an undo: the rows of what was undone say so. Other changes
--- in the same files may be at other lines now, or gone with them.
local host = require('eca.host')
local notes = require('eca.review.notes')

local M = {}

--- Mark the changes that were undone, or redone.
---@param review eca.Review
---@param plan eca.UndoPlan
---@param files string[] absolute paths
function M.mark(review, plan, files)
  local words = notes.of(review.chat).words
  for key, change in pairs(review.changes) do
    if vim.list_contains(plan.turns, change.turn) and vim.list_contains(files, change.path) then
      words[key] = not plan.again and 'undone' or nil
    end
  end
end

--- Take over what the host lists now into the changes of a list.
---@param review eca.Review
---@param listed eca.Change[]
---@return table<string, integer> lines where they are now, by key
local function compare(review, listed)
  local words = notes.of(review.chat).words
  local lines = {} ---@type table<string, integer>
  for _, change in ipairs(listed) do
    local known = review.changes[change.key]
    if known then
      lines[change.key] = change.line
      for field, value in pairs(change) do
        known[field] = value
      end
    end
  end
  for key, change in pairs(review.changes) do
    if change.kind ~= 'turn' and not lines[key] then
      words[key] = words[key] or 'gone'
    elseif words[key] == 'gone' then
      words[key] = nil
    end
  end
  return lines
end

--- Ask the host where the changes of a list are now.
---@param review eca.Review
---@param done fun(lines: table<string, integer>) lines by key
function M.read(review, done)
  host.ask('changes', { chat = review.chat }, function(listed)
    if listed then
      done(compare(review, listed))
    end
  end)
end

return M
