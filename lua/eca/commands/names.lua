--- Names of `:Eca`'s subcommands: found by their beginning, and what is said of a wrong one.
local similar = require('eca.config.did_you_mean')

local M = {}

--- Names of the contract that a later version will have.
M.planned = vim.split('tools mcp providers login logout jobs update rewrite complete', ' ')

local LOGIN = { login = true, logout = true }

--- The names that begin so.
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

--- The subcommand of a name, or of the beginning of one name alone.
---@generic T
---@param name string
---@param subcommands table<string, T>
---@return T?
function M.find(name, subcommands)
  local found = M.beginning(name, subcommands)
  return subcommands[name] or (#found == 1 and subcommands[found[1]] or nil)
end

--- What is wrong with a name, and what helps.
---@param name string
---@param subcommands table<string, any>
---@return string
function M.complaint(name, subcommands)
  local possible = M.beginning(name, subcommands)
  local near = similar.nearest(name, vim.tbl_keys(subcommands))
  local hint = ''
  if LOGIN[name] then
    hint = ' yet: send the prompt `/login` in the chat'
  elseif vim.list_contains(M.planned, name) then
    hint = ' in this version'
  elseif #possible > 1 then
    hint = ': it could be ' .. table.concat(possible, ', ')
  elseif near then
    hint = ('; did you mean :Eca %s?'):format(near)
  end
  return ('there is no :Eca %s%s'):format(name, hint)
end

return M
