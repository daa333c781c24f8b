--- What fills the context of a chat, and what it cost: a bar by category in the agent's colours.
---
--- Rules kept here: a colour is text of the agent; only `#rrggbb` becomes one, and only where the
--- terminal shows it. Else categories take turns in groups of our own.
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local panel = require('eca.ui.panel')

local M = {}

local CELLS = 48
local OWN_GROUPS = 6
local FULL, FREE, MARK = '█', '░', '┃'

---@class eca.UsagePart
---@field name string
---@field tokens integer
---@field group string
---@field cell string

---@param color? string
---@param fallback string
---@return string group
local function group_of(color, fallback)
  local shown = vim.o.termguicolors or vim.fn.has('gui_running') == 1
  if not shown or not color or not color:match('^#%x%x%x%x%x%x$') then
    return fallback
  end
  local group = 'eca_color_' .. color:sub(2):lower()
  vim.api.nvim_set_hl(0, group, { fg = color })
  return group
end

---@param usage eca.Usage
---@return eca.UsagePart[]
local function parts_of(usage)
  local parts = {} ---@type eca.UsagePart[]
  for index, category in ipairs(usage.categories or {}) do
    local own = ('EcaUsage%d'):format((index - 1) % OWN_GROUPS + 1)
    local group = group_of(category.color, own)
    parts[index] = { name = category.name, tokens = category.tokens, group = group, cell = FULL }
  end
  if #parts == 0 and usage.tokens then
    parts[1] = { name = 'used', tokens = usage.tokens, group = 'EcaUsage1', cell = FULL }
  end
  local free = usage.free or (usage.limit and usage.tokens and usage.limit - usage.tokens)
  if free and free >= 0 then
    local group = group_of(usage.free_color, 'EcaUsageFree')
    parts[#parts + 1] = { name = 'free', tokens = free, group = group, cell = FREE }
  end
  return parts
end

---@param count integer
---@return string with separators: 126,901
local function number(count)
  local digits = tostring(count):reverse():gsub('(%d%d%d)', '%1,'):reverse()
  return (digits:gsub('^,', ''))
end

---@class eca.UsageText
---@field lines string[]
---@field marks eca.Mark[]

---@param text eca.UsageText
---@param segments eca.Segment[]
local function add_line(text, segments)
  local line, row = '', #text.lines
  for _, segment in ipairs(segments) do
    local start = #line
    line = line .. segment[1]
    if segment[2] ~= '' then
      text.marks[#text.marks + 1] = { row, start, #line, segment[2] }
    end
  end
  text.lines[row + 1] = line
end

--- One cell after the other; the boundaries between parts are rounded, so that they fill the bar.
---@param parts eca.UsagePart[]
---@param total integer
---@param compact_at? integer percent
---@return eca.Segment[]
local function bar(parts, total, compact_at)
  local cells = {} ---@type eca.Segment[]
  local before = 0
  for _, part in ipairs(parts) do
    before = before + part.tokens
    while #cells < math.floor(before / total * CELLS + 0.5) do
      cells[#cells + 1] = { part.cell, part.group }
    end
  end
  local mark = compact_at and math.floor(compact_at / 100 * CELLS + 0.5)
  if mark and mark >= 1 and cells[mark] then
    cells[mark] = { MARK, 'EcaUsageMark' }
  end
  table.insert(cells, 1, { ' ', '' })
  return cells
end

---@param text eca.UsageText
---@param parts eca.UsagePart[]
---@param total integer
local function add_legend(text, parts, total)
  local widest = 0
  for _, part in ipairs(parts) do
    widest = math.max(widest, vim.fn.strdisplaywidth(part.name))
  end
  for _, part in ipairs(parts) do
    local padding = (' '):rep(widest - vim.fn.strdisplaywidth(part.name))
    local share = ('%5.1f%%'):format(part.tokens / total * 100)
    local amount = ('  %9s  '):format(number(part.tokens))
    add_line(text, {
      { ' ' .. part.cell, part.group },
      { ' ' .. part.name .. padding .. amount, '' },
      { share, 'EcaMuted' },
    })
  end
end

---@param usage eca.Usage
---@return string
local function costs(usage)
  local told = {} ---@type string[]
  for _, cost in ipairs({ { 'this chat', usage.cost }, { 'last message', usage.last_cost } }) do
    if cost[2] then
      told[#told + 1] = ('%s $%s'):format(cost[1], cost[2]:gsub('^%$', ''))
    end
  end
  return table.concat(told, ' · ')
end

--- The usage as text with colours.
---@param usage eca.Usage
---@return eca.UsageText
function M.text(usage)
  local text = { lines = {}, marks = {} } ---@type eca.UsageText
  local parts, total = parts_of(usage), 0
  for _, part in ipairs(parts) do
    total = total + part.tokens
  end
  local limit = usage.limit and (' of %s'):format(number(usage.limit)) or ''
  local used = (' %s%s tokens'):format(number(usage.tokens or 0), limit)
  add_line(text, { { used, 'EcaWinbarTitle' } })
  if total > 0 and usage.limit then
    add_line(text, bar(parts, total, usage.compact_at))
  end
  if total > 0 then
    add_legend(text, parts, total)
  end
  if usage.compact_at then
    local told = (' is compacted at %d%%'):format(usage.compact_at)
    add_line(text, { { ' ' .. MARK, 'EcaUsageMark' }, { told, 'EcaMuted' } })
  end
  if usage.output_limit then
    local told = (' answers of up to %s tokens'):format(number(usage.output_limit))
    add_line(text, { { told, 'EcaMuted' } })
  end
  if costs(usage) ~= '' then
    add_line(text, { { ' ' .. costs(usage), 'EcaMuted' } })
  end
  return text
end

--- Show the usage of a chat in a float.
---@param chat? string
function M.show(chat)
  local usage = chat and mirror.usage(chat) or {}
  if not usage.tokens then
    notify.info('the agent has not told yet what this chat uses')
    return
  end
  local text = M.text(usage)
  panel.show({ title = 'usage', lines = text.lines, marks = text.marks })
end

return M
