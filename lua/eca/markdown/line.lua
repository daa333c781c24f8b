--- Parses one line of Markdown outside a fence: its kind, and its inline parts.
---
--- Rules kept here:
--- - It is pure, like `inline.lua`. Columns are 0-based bytes, the end is exclusive.
--- - What carries meaning is drawn over its sign in as many cells, and not concealed: the user and
---   their plugins set 'conceallevel', so it decides about markers only.
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
      local bar = { first = at, last = at + 1, group = 'EcaQuote', overlay = '▎', repeats = true }
      regions[#regions + 1] = bar
    end
  end
  return { group = 'EcaQuote', regions = regions }
end

--- What is shown in the box of a task.
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
  local sign = { first = #indent, last = from, group = 'EcaListMark' }
  sign.overlay = #mark == 1 and '•' or nil
  table.insert(regions, 1, sign)
  local box = line:match('^%s%[([ xX])%]%s', from + 1)
  if box then
    local at, group = from + 2, 'EcaListMark'
    regions[#regions + 1] = { first = at - 1, last = at, conceal = '', group = group }
    regions[#regions + 1] = { first = at, last = at + 1, overlay = BOXES[box], group = group }
    regions[#regions + 1] = { first = at + 1, last = at + 2, conceal = '', group = group }
  end
  return { regions = regions }
end

local BACKSLASH = 92
--- Bytes of the longest row of dashes that is drawn as a rule.
local LONGEST_RULER = 400

--- The row of dashes below the head of a table, as a rule. Each cell has a region, for it may wrap.
---@param line string
---@return eca.markdown.Region[]
local function ruler(line)
  local regions = {} ---@type eca.markdown.Region[]
  local first, last = line:match('^%s*()'), #line:match('^(.-)%s*$')
  for at = first, last do
    local sign = line:sub(at, at) ~= '|' and '─' or at == first and '├' or '┼'
    sign = sign == '┼' and at == last and '┤' or sign
    regions[at - first + 1] =
      { first = at - 1, last = at, group = 'EcaTableBorder', overlay = sign }
  end
  return regions
end

---@param line string
---@return eca.markdown.Line?
local function row(line)
  if not line:find('^%s*|') then
    return nil
  end
  if #line <= LONGEST_RULER and line:find('^[%s|:-]+$') then
    return { regions = ruler(line) }
  end
  local regions = inline.parse(line)
  -- Blanks that align a table are inserted at a bar after text, and would be under its sign.
  local sign = not line:find('[^%s\\]|') and '│' or nil
  for at in line:gmatch('()|') do
    local bar = { first = at - 1, last = at, group = 'EcaTableBorder', overlay = sign }
    regions[#regions + 1] = line:byte(at - 1) ~= BACKSLASH and bar or nil
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
