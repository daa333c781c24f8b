--- The user's options: the defaults, overridden by `vim.g.eca` (a table, or a function that returns
--- one), overridden by what `setup` was given.
---
--- Rules kept here:
--- - Options are read when they are first needed, never while Neovim starts.
--- - For a wrong option a message of one line is shown and the default is used; it is never fatal.
local options = require('eca.config.options')

local M = {}

local given = {} ---@type table<string, any>
local by_user = {} ---@type table<string, any>
local merged ---@type eca.Options?

---@return table<string, any>
local function from_global()
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
    local base = options.check(from_global(), complaints)
    by_user = vim.tbl_deep_extend('force', base, options.check(given, complaints))
    merged = vim.tbl_deep_extend('force', options.defaults(), by_user)
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

--- Read `vim.g.eca` again when options are needed next.
function M.forget()
  merged = nil
end

return M
