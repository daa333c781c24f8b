--- Contexts that others made, looked at before they go anywhere.
---
--- Rules kept here:
--- - What is wrong is told in one line, and the context is not taken.
--- - Lines in the other order mean the same; a range ends where the text ends.
--- - Only regular files are opened, and read no further than the last line that is asked for.
local paths = require('eca.files.paths')

local M = {}

---@param value any
---@return string
local function shown(value)
  return (vim.inspect(value):gsub('%s+', ' '))
end

---@param item eca.Context
---@param key string
---@return string? fault
local function lacks_text(item, key)
  local value = item[key]
  if type(value) ~= 'string' or value == '' then
    return ("a context of type '%s' needs a %s, a string, not %s"):format(
      item.type,
      key,
      shown(value)
    )
  end
end

---@param item eca.Context
---@param key string
---@param strange string pattern of what no such text holds
---@param what string what that is
---@return string? fault
local function lacks_line(item, key, strange, what)
  local fault = lacks_text(item, key)
  if not fault and item[key]:find(strange) then
    return ('a %s has no %s: %s'):format(key, what, shown(item[key]))
  end
  return fault
end

---@param path string
---@param enough integer
---@return integer lines of the file, or `enough` when it has more
local function lines_of_file(path, enough)
  local buf = paths.buffer_of(path)
  local count = buf and vim.api.nvim_buf_line_count(buf) or 0
  local stat = vim.uv.fs_stat(path)
  if count >= enough or not stat or stat.type ~= 'file' then
    return math.min(count, enough)
  end
  local seen = 0
  for _ in io.lines(path) do
    seen = seen + 1
    if seen >= enough then
      break
    end
  end
  return math.max(count, seen)
end

---@param value any
---@return boolean
local function is_line(value)
  return value == nil or (type(value) == 'number' and value >= 1 and value % 1 == 0)
end

---@param item eca.Context
---@param name string
---@param count fun(enough: integer): integer
---@return string? fault
local function fit_lines(item, name, count)
  for _, key in ipairs({ 'first', 'last' }) do
    if not is_line(item[key]) then
      return ('%s is a line, counted from 1, not %s'):format(key, shown(item[key]))
    end
  end
  if item.first and item.last and item.last < item.first then
    item.first, item.last = item.last, item.first
  end
  local furthest = item.last or item.first
  local there = furthest and count(furthest) or 0
  if item.first and item.first > there then
    return ('%s has no line %d, its last one is %d'):format(name, item.first, there)
  end
  item.last = item.last and math.min(item.last, there)
end

---@param item eca.Context
---@return string? fault
local function check_path(item)
  local fault = lacks_line(item, 'path', '%z', 'NUL byte')
  if fault then
    return fault
  end
  local stat = vim.uv.fs_stat(item.path)
  if not stat then
    return 'there is no ' .. item.path
  elseif (stat.type == 'directory') ~= (item.type == 'directory') then
    return ('%s is a %s: another type'):format(
      item.path,
      stat.type == 'directory' and 'directory' or 'file'
    )
  end
  item.path = paths.normalize(item.path)
end

---@param item eca.Context
---@return string? fault
local function check_buffer(item)
  if type(item.buf) ~= 'number' or not vim.api.nvim_buf_is_valid(item.buf) then
    return 'there is no buffer ' .. shown(item.buf)
  end
  item.buf = item.buf == 0 and vim.api.nvim_get_current_buf() or item.buf
  return fit_lines(item, 'buffer ' .. item.buf, function()
    return vim.api.nvim_buf_line_count(item.buf)
  end)
end

---@type table<string, fun(item: eca.Context): string?>
local checks = {
  file = function(item)
    return check_path(item)
      or fit_lines(item, paths.short(item.path), function(enough)
        return lines_of_file(item.path, enough)
      end)
  end,
  directory = check_path,
  web = function(item)
    local fault = lacks_text(item, 'url')
    local is_page = not fault and item.url:find('^https?://%S+$')
    return fault or (not is_page and 'no address of a page: ' .. shown(item.url)) or nil
  end,
  text = function(item)
    return lacks_line(item, 'label', '[\r\n]', 'line break') or lacks_text(item, 'content')
  end,
  buffer = check_buffer,
  cursor = function() end,
}

--- Check a context that was given as a table.
---@param item any
---@return eca.Context? checked a copy with an absolute path, and lines in order that are there
---@return string? fault one line, when there is no context
function M.check(item)
  if type(item) ~= 'table' then
    return nil, 'a context is a table, not ' .. shown(item)
  end
  local check = checks[item.type]
  if not check then
    local kinds = vim.tbl_keys(checks)
    table.sort(kinds)
    local wanted = table.concat(kinds, ', ')
    return nil, ('type %s is none of %s'):format(shown(item.type), wanted)
  end
  local copy = vim.tbl_extend('force', {}, item)
  local fault = check(copy)
  return not fault and copy or nil, fault
end

return M
