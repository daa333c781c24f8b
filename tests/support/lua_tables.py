"""What Lua keeps: the entries of all tables that can be reached, counted by where they are."""

from collections import Counter

from tests.support.editor import Neovim

WALK = r"""
collectgarbage()
collectgarbage()
local counts, seen, queue = {}, {}, {}
local function place(key, value)
  if type(key) == 'number' and type(value) == 'function' then
    local info = debug.getinfo(value, 'S')
    return ('[%s:%d]'):format(info.short_src:gsub('^.*/lua/', ''), info.linedefined)
  elseif type(key) ~= 'string' then
    return '[' .. type(key) .. ']'
  end
  key = key:gsub('%x%x%x%x%x%x%x%x%-[%x-]+', 'ID'):gsub('%d+', '0')
  return #key > 60 and key:sub(1, 60) .. '…' or key
end
local function visit(value, path)
  local kind = type(value)
  if (kind == 'table' or kind == 'function') and not seen[value] then
    seen[value] = true
    queue[#queue + 1] = { value, path }
  end
end
local function sorted(pairs_of)
  table.sort(pairs_of, function(a, b)
    return tostring(a[1]) < tostring(b[1])
  end)
  return pairs_of
end
for _, it in ipairs({ counts, seen, queue }) do
  seen[it] = true
end
local names = vim.tbl_keys(package.loaded)
table.sort(names)
for _, name in ipairs(names) do
  if name:find('^eca') then
    visit(package.loaded[name], name)
  end
end
for _, name in ipairs(names) do
  visit(package.loaded[name], name)
end
visit(debug.getregistry(), 'registry')
local at = 1
while queue[at] do
  local value, path = queue[at][1], queue[at][2]
  queue[at] = false
  at = at + 1
  if type(value) == 'table' then
    local entries = {}
    for key, each in next, value do
      -- The registry keeps a slot that is free again: it holds the number of the next one.
      if not (path == 'registry' and type(key) == 'number' and type(each) == 'number') then
        entries[#entries + 1] = { key, each }
      end
    end
    counts[path] = (counts[path] or 0) + #entries
    for _, entry in ipairs(sorted(entries)) do
      visit(entry[1], path .. '.key')
      visit(entry[2], path .. '.' .. place(entry[1], entry[2]))
    end
    visit(debug.getmetatable(value), path .. '.metatable')
  else
    counts[path] = (counts[path] or 0) + 1
    visit(debug.getfenv(value), path .. '.env')
    for number = 1, 255 do
      local name, each = debug.getupvalue(value, number)
      if not name then
        break
      end
      visit(each, path .. '/' .. name)
    end
  end
end
for _, name in ipairs(vim.fn.getcompletion('', 'augroup')) do
  if name ~= '--Deleted--' then -- Neovim remembers the number of each
    local path = 'group ' .. place(name)
    counts[path] = (counts[path] or 0) + 1
  end
end
counts['buffers'] = #vim.api.nvim_list_bufs()
counts['highlight groups'] = #vim.fn.getcompletion('', 'highlight')
counts['autocommands'] = #vim.api.nvim_get_autocmds({})
counts['namespaces'] = vim.tbl_count(vim.api.nvim_get_namespaces())
counts['mappings'] = #vim.api.nvim_get_keymap('n') + #vim.api.nvim_get_keymap('i')
for scope in pairs({ g = 0, w = 0, t = 0 }) do
  counts['variables ' .. scope] = #vim.fn.getcompletion(scope .. ':', 'var')
end
return counts
"""


def entries(nvim: Neovim) -> Counter[str]:
    """Count them: how many a place has, by its path."""
    return Counter(nvim.lua(WALK))
