--- Finds the known word nearest to a misspelt one, for "did you mean".
---
--- Rules kept here: this is for options and subcommands, which are checked before there is a host.
--- Misspelt models and agents are the host's business.
local M = {}

--- Number of single-character edits between two words (Levenshtein).
---@param left string
---@param right string
---@return integer
local function distance(left, right)
  local row = {} ---@type integer[]
  for column = 0, #right do
    row[column] = column
  end
  for index = 1, #left do
    local diagonal = row[0]
    row[0] = index
    for column = 1, #right do
      local cost = left:byte(index) == right:byte(column) and 0 or 1
      local best = math.min(row[column] + 1, row[column - 1] + 1, diagonal + cost)
      diagonal, row[column] = row[column], best
    end
  end
  return row[#right]
end

--- The nearest of `words`, or nil if none is near.
---@param word string
---@param words string[]
---@return string?
function M.nearest(word, words)
  local best, least = nil, math.max(2, math.floor(#word / 2)) + 1
  for _, candidate in ipairs(words) do
    local away = distance(word, candidate)
    if away < least or (away == least and best and candidate < best) then
      best, least = candidate, away
    end
  end
  return best
end

return M
