--- The user's options: the defaults, overridden by `vim.g.eca` (a table, or a function that returns
--- one), overridden by what `setup` was given.
---
--- Rules kept here:
--- - Each option has one entry, with its type and default; a test checks that each is in the help.
--- - Options are read when they are first needed, never while Neovim starts.
--- - For a wrong option a message of one line is shown and the default is used; it is never fatal.
local did_you_mean = require('eca.config.did_you_mean')

local M = {}

---@class eca.Options
---@field server string|eca.options.Server the name of one, or what `servers.eca` is
---@field servers table<string, eca.options.Server> by name
---@field install { releases?: string, registry?: string } base URLs
---@field python? string Python of the host; default: the plugin's own environment
---@field layout 'right'|'left'|'bottom'|'top'|'float'|'tab'|'current'
---@field width number columns, or below 1 a part of them
---@field input eca.options.Input
---@field icons table<string, string> glyphs by name
---@field keymaps boolean default keys in the chat's own buffers
---@field approval eca.options.Approval
---@field diff { lines: integer } rows of a diff in its block and in the float
---@field checkpoints { enabled: boolean, days: number, size: number, max_file: number } in MiB
---@field diagnostics { base: 0|1 } number of the first line in what the agent reads
---@field contexts { cursor: boolean, repo_map: boolean } what is sent with each prompt
---@field completion boolean|{ auto: boolean, inline: boolean|table<string, boolean> } with a menu
---that opens by itself; inline: in code, also by file type
---@field code_actions boolean offer actions as a language client
---@field follow boolean open files in a code window as the agent changes them
---@field turn { notify: 'hidden'|'always'|false, bell: boolean } notice when a turn ends
---@field templates { user?: string|boolean, project: string|false } folders with prompts
---@field previews { keymaps: boolean } keys in a buffer while a preview stands
---@field notify 'error'|'warn'|'info'|false lowest level shown
---@field log_level 'error'|'warn'|'info'|'debug'

---@class eca.options.Input
---@field min integer rows of its window
---@field max integer
---@field insert boolean start insert mode when the chat is opened

---@class eca.options.Approval
---@field float boolean
---@field guard integer ms after a request appears in which keys do not answer it
---@field bell boolean
---@field notify 'hidden'|'always'|false message when a request becomes pending

---@class eca.options.Server
---@field command? string[] default: `eca` on PATH, else the demo agent
---@field env? table<string, string>
---@field download? boolean
---@field protocol? 'eca'|'acp'
---@field options? table<string, string|boolean> of new chats, by id or category
---@field mcp? table<string, boolean|eca.options.McpServer> by name; `editor = true` is our own
---@field paths? table<string, string> where it runs elsewhere: its folders, by ours
---@field idle? number minutes without use after which it is ended; 0: never

---@class eca.options.McpServer
---@field command? string[] a program that the agent starts
---@field env? table<string, string>
---@field url? string a server that runs already
---@field type? 'http'|'sse' default: http
---@field headers? table<string, string>

---@class eca.options.Entry
---@field default? any
---@field types string[]
---@field values? any[] the only allowed ones
---@field least? number
---@field list? boolean
---@field open? string[] a table with any keys: the types of its values
---@field each? table<string, eca.options.Entry> a table of tables by name: what is in each
---@field switches? table<string, true> names that may be booleans in such a table
---@field fields? table<string, eca.options.Entry> the options in a table

---@type table<string, eca.options.Entry>
M.entries = {
  server = { types = { 'table', 'string' } },
  ['server.command'] = { types = { 'table' }, list = true },
  ['server.env'] = { types = { 'table' }, default = {}, open = { 'string' } },
  ['server.download'] = { types = { 'boolean' }, default = true },
  ['server.idle'] = { types = { 'number' }, default = 0, least = 0 },
  servers = {
    types = { 'table' },
    default = {},
    each = {
      command = { types = { 'table' }, list = true },
      env = { types = { 'table' }, open = { 'string' } },
      protocol = { types = { 'string' }, values = { 'eca', 'acp' } },
      options = { types = { 'table' }, open = { 'string', 'boolean' } },
      paths = { types = { 'table' }, open = { 'string' } },
      mcp = {
        types = { 'table' },
        switches = { editor = true },
        each = {
          command = { types = { 'table' }, list = true },
          env = { types = { 'table' }, open = { 'string' } },
          url = { types = { 'string' } },
          type = { types = { 'string' }, values = { 'http', 'sse' } },
          headers = { types = { 'table' }, open = { 'string' } },
        },
      },
      idle = { types = { 'number' }, least = 0 },
    },
  },
  ['install.releases'] = { types = { 'string' } },
  ['install.registry'] = { types = { 'string' } },
  python = { types = { 'string' } },
  layout = {
    types = { 'string' },
    default = 'right',
    values = { 'right', 'left', 'bottom', 'top', 'float', 'tab', 'current' },
  },
  width = { types = { 'number' }, default = 0.4 },
  ['input.min'] = { types = { 'number' }, default = 3 },
  ['input.max'] = { types = { 'number' }, default = 12 },
  ['input.insert'] = { types = { 'boolean' }, default = false },
  icons = { types = { 'table' }, default = {}, open = { 'string' } },
  keymaps = { types = { 'boolean' }, default = true },
  ['approval.float'] = { types = { 'boolean' }, default = true },
  ['approval.guard'] = { types = { 'number' }, default = 300 },
  ['approval.bell'] = { types = { 'boolean' }, default = false },
  ['approval.notify'] = {
    types = { 'string', 'boolean' },
    default = 'hidden',
    values = { 'hidden', 'always', false },
  },
  ['diff.lines'] = { types = { 'number' }, default = 40, least = 1 },
  ['checkpoints.enabled'] = { types = { 'boolean' }, default = true },
  ['checkpoints.days'] = { types = { 'number' }, default = 14, least = 1 },
  ['checkpoints.size'] = { types = { 'number' }, default = 1024, least = 1 },
  ['checkpoints.max_file'] = { types = { 'number' }, default = 20, least = 0 },
  ['diagnostics.base'] = { types = { 'number' }, default = 1, values = { 0, 1 } },
  ['contexts.cursor'] = { types = { 'boolean' }, default = true },
  ['contexts.repo_map'] = { types = { 'boolean' }, default = true },
  completion = { types = { 'boolean', 'table' }, default = true },
  ['completion.auto'] = { types = { 'boolean' }, default = true },
  ['completion.inline'] = { types = { 'boolean', 'table' }, default = false, open = { 'boolean' } },
  code_actions = { types = { 'boolean' }, default = false },
  follow = { types = { 'boolean' }, default = false },
  ['turn.notify'] = {
    types = { 'string', 'boolean' },
    default = 'hidden',
    values = { 'hidden', 'always', false },
  },
  ['templates.user'] = { types = { 'string', 'boolean' } },
  ['templates.project'] = { types = { 'string', 'boolean' }, default = '.nvim/eca/templates' },
  ['previews.keymaps'] = { types = { 'boolean' }, default = true },
  ['turn.bell'] = { types = { 'boolean' }, default = false },
  notify = {
    types = { 'string', 'boolean' },
    default = 'info',
    values = { 'error', 'warn', 'info', false },
  },
  log_level = {
    types = { 'string' },
    default = 'info',
    values = { 'error', 'warn', 'info', 'debug' },
  },
}

--- The entries as a tree: a table that holds other options, such as `input`, has them as `fields`.
local root = { fields = {} } ---@type eca.options.Entry
for path, entry in pairs(M.entries) do
  local group, key = path:match('^(.*)%.(.*)$')
  local parent = root
  if group then
    root.fields[group] = root.fields[group] or { types = { 'table' } }
    parent = root.fields[group]
    parent.fields = parent.fields or {}
  end
  local known = parent.fields[key or path] or {}
  parent.fields[key or path] = vim.tbl_extend('error', entry, { fields = known.fields })
end

---@param entry eca.options.Entry
---@param value any
---@return string? fault
local function fault_of(entry, value)
  if entry.list and type(value) ~= 'table' then
    return ("must be a list of strings, like { 'eca', 'server' }, not a %s"):format(type(value))
  elseif not vim.list_contains(entry.types, type(value)) then
    return ('must be a %s, not a %s'):format(table.concat(entry.types, ' or '), type(value))
  end
  if entry.values and not vim.list_contains(entry.values, value) then
    local shown = vim.tbl_map(vim.inspect, entry.values)
    return ('must be one of %s, not %s'):format(table.concat(shown, ', '), vim.inspect(value))
  end
  if entry.least and (value < entry.least or value ~= value) then
    return ('must be %s or more, not %s'):format(entry.least, value)
  end
  if entry.list and not vim.islist(value) then
    return 'must be a list of strings'
  end
  local inside = entry.open or (entry.list and { 'string' })
  for _, item in pairs(inside and type(value) == 'table' and value or {}) do
    if not vim.list_contains(inside, type(item)) then
      local wanted = table.concat(inside, 's or ')
      local shown = type(item) == 'table' and 'a table' or vim.inspect(item)
      return ('must contain only %ss, not %s'):format(wanted, shown)
    end
  end
end

local check

--- Check the options of a table, or the tables by name that it holds.
---@param path string
---@param entry eca.options.Entry
---@param value table<any, any>
---@param complaints string[]
---@return table<string, any>
local function check_table(path, entry, value, complaints)
  local right = {} ---@type table<string, any>
  for key, item in pairs(value) do
    local name = (path == '' and '' or path .. '.') .. tostring(key)
    local inner = entry.fields and entry.fields[key] or { types = { 'table' }, fields = entry.each }
    if entry.fields and not entry.fields[key] then
      local guess = did_you_mean.nearest(tostring(key), vim.tbl_keys(entry.fields))
      local near = guess and name:sub(1, #name - #tostring(key)) .. guess
      local hint = near and (" (did you mean '%s'?)"):format(near) or ''
      complaints[#complaints + 1] = ("unknown option '%s'%s"):format(name, hint)
    elseif entry.each and (type(key) ~= 'string' or not key:find('^%S+$')) then
      complaints[#complaints + 1] = ("option '%s' must have a name without spaces"):format(name)
    elseif type(item) == 'boolean' and (entry.switches or {})[key] then
      right[key] = item
    elseif entry.each and type(item) ~= 'table' then
      complaints[#complaints + 1] = ("option '%s' must be a table"):format(name)
    else
      right[key] = check(name, inner, item, complaints)
    end
  end
  return right
end

---@param path string
---@param entry eca.options.Entry
---@param value any
---@param complaints string[]
---@return any? value nil if it is wrong
function check(path, entry, value, complaints)
  if type(value) == 'table' and (entry.fields or entry.each) then
    return check_table(path, entry, value, complaints)
  end
  local fault = fault_of(entry, value)
  if not fault then
    return value
  end
  complaints[#complaints + 1] = ("option '%s' %s"):format(path, fault)
end

--- Returns the valid options of a table. Each fault adds a line to `complaints`.
---@param given any
---@param complaints string[]
---@return table<string, any>
function M.check(given, complaints)
  if type(given) ~= 'table' then
    complaints[#complaints + 1] = 'the options must be a table, not a ' .. type(given)
    return {}
  end
  local found = {} ---@type string[]
  local right = check_table('', root, given, found)
  table.sort(found)
  vim.list_extend(complaints, found)
  return right
end

--- A new table of all defaults.
---@return eca.Options
function M.defaults()
  local all = {} ---@type table<string, any>
  for path, entry in pairs(M.entries) do
    local group, key = path:match('^(.*)%.(.*)$')
    if group then
      all[group] = all[group] or {}
      all[group][key] = vim.deepcopy(entry.default)
    elseif entry.default ~= nil and not root.fields[path].fields then
      all[path] = vim.deepcopy(entry.default)
    end
  end
  return all --[[@as eca.Options]]
end

local given = {} ---@type table<string, any>
local by_user = {} ---@type table<string, any>
local merged ---@type eca.Options?

--- The user's `vim.g.eca`, not checked.
---@return table<string, any>
function M.from_global()
  local value = vim.g.eca
  if type(value) ~= 'function' then
    return value or {}
  end
  local worked, result = pcall(value)
  return worked and result or { ['vim.g.eca'] = result }
end

--- Merge options given from Lua into those of `vim.g.eca`. Has no other effect.
---@param opts? table<string, any>
function M.setup(opts)
  given = vim.tbl_deep_extend('force', given, opts or {})
  merged = nil
end

--- The options; all are set and have the right types.
---@return eca.Options
function M.get()
  if not merged then
    local complaints = {} ---@type string[]
    local base = M.check(M.from_global(), complaints)
    by_user = vim.tbl_deep_extend('force', base, M.check(given, complaints))
    merged = vim.tbl_deep_extend('force', M.defaults(), by_user)
    for _, complaint in ipairs(complaints) do
      require('eca.ui.message').show('warn', complaint, merged.notify) -- late: rarely needed
    end
  end
  return merged
end

--- Has the user set an option, even if to its default?
---@param name string of an option outside any group
---@return boolean
function M.is_set(name)
  M.get()
  return by_user[name] ~= nil
end

--- The options that the user has set, as far as they are right.
---@return table<string, any>
function M.of_user()
  M.get()
  return vim.deepcopy(by_user)
end

--- Read `vim.g.eca` again when options are needed next.
function M.forget()
  merged = nil
end

return M
