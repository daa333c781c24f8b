--- Parses one line of Markdown outside a fence: its kind, and its inline parts.
---
--- Rules kept here: it is pure, like `inline.lua`. Columns are 0-based bytes, the end is exclusive.
local inline = require('eca.markdown.inline')

local M = {}

---@class eca.markdown.Line
---@field group? string highlight of the whole line
---@field overlay? string text drawn over the line
---@field regions eca.markdown.Region[]

local RULE = string.rep('─', 40)

---@param line string
---@return eca.markdown.Line?
local function heading(line)
  local indent, marks, space = line:match('^( ? ? ?)(#+)( +)')
  if not marks or #marks > 6 then
    return nil
  end
  local text_from = #indent + #marks + #space
  local regions = inline.parse(line, text_from)
  table.insert(regions, 1, { first = 0, last = text_from, conceal = '' })
  return { group = 'EcaHeading', regions = regions }
end

---@param line string
---@return eca.markdown.Line?
local function rule(line)
  local mark = line:match('^ ? ? ?([-*_])')
  if not mark or line:find('[^ %' .. mark .. ']') or select(2, line:gsub('%' .. mark, '')) < 3 then
    return nil
  end
  return { overlay = RULE, group = 'EcaRule', regions = {} }
end

---@param line string
---@return eca.markdown.Line?
local function quote(line)
  local indent, marks = line:match('^( ? ? ?)(>[> ]*)')
  if not marks then
    return nil
  end
  local from = #indent + #marks
  local regions = inline.parse(line, from)
  for at = #indent, from - 1 do
    if line:byte(at + 1) == 62 then
      regions[#regions + 1] = { first = at, last = at + 1, conceal = '▎' }
    end
  end
  return { group = 'EcaQuote', regions = regions }
end

--- What is shown for the box of a task.
local BOXES = { [' '] = '☐', ['x'] = '☑', ['X'] = '☑' }

---@param line string
---@return eca.markdown.Line?
local function item(line)
  local indent, mark = line:match('^(%s*)([-*+])%s')
  if not mark then
    indent, mark = line:match('^(%s*)(%d+[.)])%s')
  end
  if not mark then
    return nil
  end
  local from = #indent + #mark
  local regions = inline.parse(line, from)
  local bullet = #mark == 1 and '•' or nil
  table.insert(
    regions,
    1,
    { first = #indent, last = from, group = 'EcaListMark', conceal = bullet }
  )
  local box = line:match('^%s%[([ xX])%]%s', from + 1)
  if box then
    regions[#regions + 1] =
      { first = from + 1, last = from + 4, group = 'EcaListMark', conceal = BOXES[box] }
  end
  return { regions = regions }
end

---@param line string
---@return eca.markdown.Line?
local function row(line)
  if not line:find('^%s*|') then
    return nil
  end
  if line:find('^[%s|:-]+$') then
    return { group = 'EcaTableBorder', regions = {} }
  end
  local regions = inline.parse(line)
  for at in line:gmatch('()|') do
    regions[#regions + 1] = { first = at - 1, last = at, group = 'EcaTableBorder' }
  end
  return { regions = regions }
end

local KINDS = { heading, rule, quote, item, row }

--- Characters of lines that may be more than plain text: a cheap check before the patterns.
local MARKED = '[`*_~%[<\\#>|%-+%d]'

--- Bytes of the longest line that is parsed. A longer one is data rather than text, and stays
--- plain.
M.LONGEST = 4000

--- Parse one line; nil if it is plain.
---@param line string
---@return eca.markdown.Line?
function M.parse(line)
  if #line > M.LONGEST then
    return nil
  end
  if not line:find(MARKED) and not line:find('http', 1, true) then
    return nil
  end
  for _, read in ipairs(KINDS) do
    local found = read(line)
    if found then
      return found
    end
  end
  return { regions = inline.parse(line) }
end

return M
