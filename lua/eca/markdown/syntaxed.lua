--- Highlights code by Vim's syntax files, for languages without a parser.
---
--- Rules kept here:
--- - Each language has one hidden scratch buffer, created at its first use, because loading a
---   syntax file costs more than using it. It has a syntax and no file type, so that no plugin
---   reacts to it.
--- - The group is looked up once per word or sign, not once per column.
local others = require('eca.ui.others')

local M = {}

local buffers = {} ---@type table<string, integer> by language
local names = {} ---@type table<integer, string> of syntax groups; '' for none

---@param language string
---@return integer
local function buffer_of(language)
  local buf = buffers[language]
  if not buf or not vim.api.nvim_buf_is_valid(buf) then
    buf = others.create_buf()
    vim.bo[buf].undolevels = -1
    buffers[language] = buf
    others.set('Syntax', buf, 'syntax', language)
  end
  return buf
end

--- Find the highlights of one row; neighbours with one group become one region.
---@param row integer
---@param line string
---@param regions eca.markdown.CodeRegion[]
local function read_row(row, line, regions)
  local open = nil ---@type eca.markdown.CodeRegion?
  local at = line:find('%S')
  while at do
    local last = select(2, line:find('^[%w_\128-\255]+', at)) or at
    local id = vim.fn.synID(row + 1, at, 1)
    names[id] = names[id] or (id == 0 and '' or vim.fn.synIDattr(id, 'name'))
    local group = names[id]
    if open and open.group == group then
      open.last = last
    elseif group ~= '' then
      open = { row = row, first = at - 1, end_row = row, last = last, group = group }
      regions[#regions + 1] = open
    else
      open = nil
    end
    at = line:find('%S', last + 1)
  end
end

--- Find the highlights of some rows.
---@param language eca.markdown.Language with a syntax file
---@param lines string[]
---@param from integer first row wanted; the rows before it are context for the syntax
---@return eca.markdown.CodeRegion[]
function M.regions(language, lines, from)
  local buf = buffer_of(language.name)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  local regions = {} ---@type eca.markdown.CodeRegion[]
  vim.api.nvim_buf_call(buf, function()
    for row = from, #lines - 1 do
      read_row(row, lines[row + 1], regions)
    end
  end)
  return regions
end

return M
