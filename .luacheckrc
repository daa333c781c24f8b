-- luacheck's settings: Neovim's LuaJIT, with `vim` to read and its tables of variables and options
-- to write.
std = 'luajit'
max_line_length = 100
self = false

local writable = {}
for name in ('g b w t v o bo wo go opt opt_local opt_global env'):gmatch('%S+') do
  writable[name] = { read_only = false, other_fields = true }
end
read_globals = { vim = { other_fields = true, fields = writable } }
