--- Words the comments on changes as one prompt.
---
--- Rules kept here: code is quoted in a fence that none of its lines can close.
local paths = require('eca.files.paths')
local rows = require('eca.review.rows')

local M = {}

local MOST_LINES = 40

---@class eca.Comment
---@field change eca.Change
---@field line integer 1-based, as it is now
---@field text string

---@param sign string
---@param lines string[]
---@param into string[]
local function quote(sign, lines, into)
  for index, line in ipairs(lines) do
    if index > MOST_LINES then
      into[#into + 1] = ('… %d more lines'):format(#lines - MOST_LINES)
      return
    end
    into[#into + 1] = sign .. line:gsub('\r$', '')
  end
end

---@param lines string[]
---@return string
local function fence_for(lines)
  local longest = 2
  for _, line in ipairs(lines) do
    for run in line:gmatch('`+') do
      longest = math.max(longest, #run)
    end
  end
  return ('`'):rep(longest + 1)
end

---@param comment eca.Comment
---@return string
local function place(comment)
  local path = paths.short(comment.change.path)
  local count = comment.change.count or 0
  local last = count > 1 and ('-%d'):format(comment.line + count - 1) or ''
  return ('%s:%d%s'):format(path, comment.line, last)
end

---@param turn eca.Change of kind `turn`
---@return string
local function name_of(turn)
  local name = turn.prompt ~= '' and ('“%s”'):format(turn.prompt)
    or ('number %d'):format(turn.turn)
  return ('all changes of the turn %s: %s'):format(name, turn.text)
end

---@param comment eca.Comment
---@return string
local function paragraph(comment)
  local change, quoted = comment.change, {}
  if change.kind == 'turn' then
    return ('%s\n\n%s'):format(name_of(change), comment.text)
  end
  quote('-', change.before or {}, quoted)
  quote('+', change.after or {}, quoted)
  if #quoted == 0 then
    local subject = rows.subject(change)
    return ('%s (%s)\n\n%s'):format(place(comment), subject, comment.text)
  end
  local fence = fence_for(quoted)
  local code = table.concat(quoted, '\n')
  return ('%s\n\n%sdiff\n%s\n%s\n\n%s'):format(place(comment), fence, code, fence, comment.text)
end

--- The prompt with all comments.
---@param comments eca.Comment[]
---@return string
function M.prompt(comments)
  return table.concat(vim.tbl_map(paragraph, comments), '\n\n')
end

return M
