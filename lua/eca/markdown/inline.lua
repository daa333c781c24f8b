--- Parses the inline Markdown of one line: emphasis, code, links, and the markers to hide.
---
--- Rules kept here:
--- - It is pure: a line in, regions out, without buffer or state. The line is never evaluated.
--- - Columns are 0-based bytes, the end is exclusive.
--- - It makes one pass, so the cost is linear in the length of any line. A marker that is not
---   closed is plain text.
--- - If the text of a link looks like another address, nothing is hidden, and each of the two opens
---   itself. A long address is not hidden either: its rows would be blank, and it could not be
---   copied.
local M = {}

--- State of the parser.
---@class eca.markdown.Reading
---@field depth integer nested emphases around the text
---@field unclosed table<string, true> runs of markers that are not closed in the rest of the text
---@field closers? table<integer, integer> closing parentheses by the byte of their opening one

---@class eca.markdown.Region
---@field first integer 0-based byte column
---@field last integer 0-based byte column, exclusive
---@field group? string highlight group
---@field conceal? string what is shown instead ('' hides)
---@field url? string target of a link
---@field overlay? string drawn over its text, in as many cells
---@field repeats? boolean the overlay is drawn on the wrapped rows of its line, too

local DELIMITERS = '[`*_~%[<\\h]'

--- Most levels of nested emphasis: each level costs another pass.
local DEEPEST = 8

local EMPHASIS = {
  ['*'] = { 'EcaItalic', 'EcaBold', 'EcaBoldItalic' },
  ['_'] = { 'EcaItalic', 'EcaBold', 'EcaBoldItalic' },
  ['~'] = { nil, 'EcaStrike', nil },
}

---@param regions eca.markdown.Region[]
---@param first integer
---@param last integer
---@param group string
---@param width integer bytes of the marker on either side
local function add_wrapped(regions, first, last, group, width)
  regions[#regions + 1] = { first = first, last = first + width, conceal = '' }
  regions[#regions + 1] = { first = first + width, last = last - width, group = group }
  regions[#regions + 1] = { first = last - width, last = last, conceal = '' }
end

--- Code: closed by as many backticks as opened it.
---@param line string
---@param at integer 1-based
---@param regions eca.markdown.Region[]
---@return integer next where to continue, 1-based
local function code(line, at, regions)
  local ticks = line:match('^`+', at)
  local from = at + #ticks
  while true do
    local first, last = line:find('`+', from)
    if not first then
      return at + #ticks
    end
    if last - first + 1 == #ticks then
      add_wrapped(regions, at - 1, last, 'EcaCode', #ticks)
      return last + 1
    end
    from = last + 1
  end
end

--- A run of markers can open emphasis if text follows it; `_` not inside a name.
---@param line string
---@param at integer
---@param run string
---@return boolean
local function can_open(line, at, run)
  if not line:find('^%S', at + #run) then
    return false
  end
  return run:sub(1, 1) ~= '_' or at == 1 or not line:find('^[%w\128-\255./]', at - 1)
end

--- It can close if text precedes it. Names like `__init__.py` and `__call__()` are not emphasis.
---@param line string
---@param first integer where the closing run begins, 1-based
---@param run string
---@return boolean
local function can_close(line, first, run)
  if line:find('^%s', first - 1) then
    return false
  end
  return run:sub(1, 1) ~= '_' or not line:find('^[./]?[%w\128-\255(]', first + #run)
end

--- Find where a run of markers is closed. Runs of another length in between open and close on their
--- own. A run that closes two at once (`**a *b***`) is shared with the inner one.
---@param line string
---@param from integer
---@param run string
---@return integer? first of the closing run
local function find_closer(line, from, run)
  local width, inner = #run, {} ---@type integer, integer[]
  local runs = '%' .. run:sub(1, 1) .. '+'
  local first, last = line:find(runs, from)
  while first and last do
    local length, found = last - first + 1, line:sub(first, last)
    local closes = can_close(line, first, found)
    if closes and length == width then
      return first
    elseif closes and inner[#inner] == length then
      inner[#inner] = nil
    elseif closes and inner[#inner] == length - width then
      return last + 1 - width
    elseif can_open(line, first, found) then
      inner[#inner + 1] = length
    end
    first, last = line:find(runs, last + 1)
  end
end

---@param line string
---@param at integer
---@param regions eca.markdown.Region[]
---@param reading eca.markdown.Reading
---@param parse fun(text: string, offset: integer, regions: eca.markdown.Region[], depth: integer)
---@return integer next
local function emphasis(line, at, regions, reading, parse)
  local marker = line:sub(at, at)
  local run = line:match('^%' .. marker .. '+', at)
  local group = EMPHASIS[marker][#run]
  local after = at + #run
  local known = reading.unclosed[run] or reading.depth > DEEPEST
  if not group or known or not can_open(line, at, run) then
    return after
  end
  local first = find_closer(line, after, run)
  if not first then
    reading.unclosed[run] = true
    return after
  end
  local last = first + #run - 1
  add_wrapped(regions, at - 1, last, group, #run)
  parse(line:sub(after, first - 1), after - 1, regions, reading.depth + 1)
  return last + 1
end

--- Only a plain web or mail address becomes a terminal link: others could contain control codes.
---@param url string
---@return string?
local function safe(url)
  return url:match('^https?://[\33-\126]+$') or url:match('^mailto:[\33-\126]+$')
end

--- Bytes of the longest address that is hidden.
local LONGEST_HIDDEN = 60

local HOST = '^[%w-]+%.[%w.-]*%a%a'

--- Does the text of a link look like another address?
---@param text string
---@param url string
---@return boolean
local function misleads(text, url)
  local named = text:match('://(%S*)') or text:match(HOST .. '$')
  named = named or text:match(HOST .. '[/:?#]%S*$')
  local target = url:gsub('^%a+://', '')
  local prefix = named and named:gsub('/$', '') or ''
  local rest = target:sub(#prefix + 1)
  local leads_there = vim.startswith(target, prefix) and (rest == '' or rest:find('^[/?#]'))
  return named ~= nil and not leads_there
end

--- The closing parentheses of a line, by the opening ones.
---@param line string
---@return table<integer, integer>
local function closers_of(line)
  local closers, open = {}, {} ---@type table<integer, integer>, integer[]
  for at, mark in line:gmatch('()([()])') do
    if mark == '(' then
      open[#open + 1] = at
    elseif #open > 0 then
      closers[table.remove(open)] = at
    end
  end
  return closers
end

---@param line string
---@param at integer
---@param regions eca.markdown.Region[]
---@param reading eca.markdown.Reading
---@return integer next
local function link(line, at, regions, reading)
  local text, start = line:match('^%[([^%[%]]+)%]()%(', at)
  if not text then
    return at + 1
  end
  reading.closers = reading.closers or closers_of(line)
  local last = reading.closers[start]
  local url = last and line:sub(start + 1, last - 1):match('^%S+')
  if not url then
    return at + 1
  end
  local after = last + 1
  local text_last = at + #text
  local target = { first = text_last + 2, last = text_last + 2 + #url, group = 'EcaLink' }
  target.url = safe(url)
  if misleads(text, url) then
    regions[#regions + 1] = target
    return after
  end
  regions[#regions + 1] = { first = at, last = text_last, group = 'EcaLink', url = target.url }
  if #url > LONGEST_HIDDEN then
    regions[#regions + 1] = target
    return after
  end
  regions[#regions + 1] = { first = at - 1, last = at, conceal = '' }
  regions[#regions + 1] = { first = text_last, last = after - 1, conceal = '' }
  return after
end

---@param line string
---@param at integer
---@param regions eca.markdown.Region[]
---@return integer next
local function address(line, at, regions)
  local url = line:match('^https?://[^%s<>"`|]+', at)
  if not url or (at > 1 and line:find('^[%w\128-\255]', at - 1)) then
    return at + 1
  end
  -- late: only needed for an address
  url = require('eca.text.scan').without_end(url, '[%.,;:!%?%)%]*_]')
  local last = at - 1 + #url
  regions[#regions + 1] = { first = at - 1, last = last, group = 'EcaLink', url = safe(url) }
  return last + 1
end

---@param line string
---@param at integer
---@param regions eca.markdown.Region[]
---@return integer next
local function bracketed_address(line, at, regions)
  local last, url = select(2, line:find('^<(https?://[^%s<>]+)>', at))
  if not last then
    return at + 1
  end
  add_wrapped(regions, at - 1, last, 'EcaLink', 1)
  regions[#regions - 1].url = safe(url)
  return last + 1
end

--- A backslash makes the next punctuation character plain text.
---@param line string
---@param at integer
---@param regions eca.markdown.Region[]
---@return integer next
local function escape(line, at, regions)
  if not line:find('^%p', at + 1) then
    return at + 1
  end
  regions[#regions + 1] = { first = at - 1, last = at, conceal = '' }
  return at + 2
end

local READERS = {
  ['`'] = code,
  ['*'] = emphasis,
  ['_'] = emphasis,
  ['~'] = emphasis,
  ['['] = link,
  ['<'] = bracketed_address,
  ['h'] = address,
  ['\\'] = escape,
}

---@param text string
---@param offset integer bytes before `text` in its line
---@param regions eca.markdown.Region[]
---@param depth integer
local function parse(text, offset, regions, depth)
  local own = {} ---@type eca.markdown.Region[]
  local reading = { depth = depth, unclosed = {} } ---@type eca.markdown.Reading
  local at = text:find(DELIMITERS)
  while at do
    local reader = READERS[text:sub(at, at)]
    at = text:find(DELIMITERS, reader(text, at, own, reading, parse))
  end
  for _, region in ipairs(own) do
    region.first, region.last = region.first + offset, region.last + offset
    regions[#regions + 1] = region
  end
end

--- Parse the inline Markdown of a line.
---@param line string
---@param offset? integer bytes to skip at its start
---@return eca.markdown.Region[]
function M.parse(line, offset)
  local regions = {} ---@type eca.markdown.Region[]
  parse(line:sub((offset or 0) + 1), offset or 0, regions, 0)
  return regions
end

return M
