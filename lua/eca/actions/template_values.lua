--- The values of a template's variables: what is selected, the file, the diff, the diagnostics.
---
--- Rules kept here: nothing is read before the template is used. If there is nothing to read, the
--- reason is a message; only diagnostics may be missing.
local buffer_text = require('eca.context.buffer_text')
local paths = require('eca.files.paths')
local places = require('eca.context.places')
local reports = require('eca.context.reports')
local tokens = require('eca.context.tokens')

local M = {}

---@class eca.TemplateValue
---@field content string
---@field label string
---@field language string

---@alias eca.TakeValue fun(value?: eca.TemplateValue, fault?: string) fault: why there is none

---@param read eca.ReadText
---@param language? string
---@return eca.TemplateValue
local function value(read, language)
  local cut = read.cut and (' (%s)'):format(read.cut) or ''
  return { content = read.content, label = read.label .. cut, language = language or '' }
end

--- The lines that were named, else what is selected.
---@param given? eca.Context
---@return eca.TemplateValue? value
---@return string? fault
local function selected(given)
  local place = places.selection()
  local buf = place and place.buf
  local read, fault ---@type eca.ReadText?, string?
  if given and given.first then
    buf = given.buf or assert(paths.buffer_of(given.path))
    local named = { type = 'buffer', buf = buf, first = given.first, last = given.last }
    read, fault = buffer_text.read(named)
    read.label = ('%s:%d-%d'):format(read.label, given.first, given.last)
  else
    read, fault = buffer_text.selection()
  end
  return read and value(read, vim.bo[buf].filetype), fault
end

---@type table<string, fun(given: eca.Context?, take: eca.TakeValue)>
local readers = {
  selection = function(given, take)
    take(selected(given))
  end,
  file = function(given, take)
    local _, path = places.last()
    path = given and given.path or path
    local token = path and tokens.write({ type = 'file', path = path })
    take(token and value({ label = '', content = token }), 'there is no file in a code window')
  end,
  diff = function(_, take)
    reports.read_diff(function(read, fault)
      take(read and value(read, 'diff'), fault)
    end)
  end,
  diagnostics = function(_, take)
    local read = reports.read_diagnostics()
    take(read and value(read))
  end,
}

--- Collect values, one after the other. A message says which one is missing; nothing follows then.
---@param kinds string[] of variables
---@param given? eca.Context lines that were named
---@param done fun(values: table<string, eca.TemplateValue>)
function M.collect(kinds, given, done)
  local values = {} ---@type table<string, eca.TemplateValue>
  ---@param index integer
  local function read(index)
    local kind = kinds[index]
    if not kind then
      return done(values)
    end
    readers[kind](given, function(found, fault)
      values[kind] = found
      if not found and fault then
        require('eca.ui.notify').warn(fault)
      else
        read(index + 1)
      end
    end)
  end
  read(1)
end

return M
