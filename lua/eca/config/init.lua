--- The user's options: defaults, then `vim.g.eca` (a table, or a function that returns one), then
--- what `setup` was given.
---
--- Rules kept here:
--- - Options are read when they are first needed, never while Neovim starts.
--- - A wrong option is told in one line and its default used; it is never fatal.
local options = require('eca.config.options')

local M = {}

local given = {} ---@type table<string, any>
local chosen = {} ---@type table<string, any> by the user
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

--- The options, all set and of the right types.
---@return eca.Options
function M.get()
  if not merged then
    local complaints = {} ---@type string[]
    local base = options.check(from_global(), complaints)
    chosen = vim.tbl_deep_extend('force', base, options.check(given, complaints))
    merged = vim.tbl_deep_extend('force', options.defaults(), chosen)
    for _, complaint in ipairs(complaints) do
      require('eca.ui.message').show('warn', complaint, merged.notify) -- late: seldom needed
    end
  end
  return merged
end

--- Has the user set an option, be it to its default?
---@param name string one that is in no group
---@return boolean
function M.is_set(name)
  M.get()
  return chosen[name] ~= nil
end

--- Read `vim.g.eca` again when the options are next needed.
function M.forget()
  merged = nil
end

return M
