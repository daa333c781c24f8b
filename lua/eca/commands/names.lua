--- Names of `:Eca`'s subcommands: finds them by a prefix, and words the message for a wrong one.
local abilities = require('eca.state.abilities')
local did_you_mean = require('eca.config.did_you_mean')

local M = {}

--- Names that are reserved for later versions.
M.planned = vim.split('tools mcp providers login logout jobs update rewrite complete', ' ')

local LOGIN = { login = true, logout = true }

--- The names that begin with a text.
---@param lead string
---@param subcommands table<string, any>
---@return string[]
function M.beginning(lead, subcommands)
  local found = vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, vim.tbl_keys(subcommands))
  table.sort(found)
  return found
end

--- The subcommand of a name, or of an unambiguous prefix.
---@generic T
---@param name string
---@param subcommands table<string, T>
---@return T?
function M.find(name, subcommands)
  local found = M.beginning(name, subcommands)
  return subcommands[name] or (#found == 1 and subcommands[found[1]] or nil)
end

--- What is wrong with a name, and the remedy.
---@param name string
---@param subcommands table<string, any>
---@return string
function M.complaint(name, subcommands)
  local possible = M.beginning(name, subcommands)
  local near = did_you_mean.nearest(name, vim.tbl_keys(subcommands))
  local lack = LOGIN[name] and abilities.fault(require('eca.window').current_chat(), 'login')
  if lack then
    return lack
  elseif LOGIN[name] then
    return (':Eca %s does not exist yet: send the prompt `/login` in the chat'):format(name)
  elseif vim.list_contains(M.planned, name) then
    return (':Eca %s does not exist in this version'):format(name)
  elseif #possible > 1 then
    return (':Eca %s is ambiguous: %s'):format(name, table.concat(possible, ', '))
  end
  local hint = near and ('; did you mean :Eca %s?'):format(near) or ''
  return ('unknown command :Eca %s%s'):format(name, hint)
end

return M
