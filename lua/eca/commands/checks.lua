--- Checks the names and arguments of `:Eca`'s subcommands: finds a name by its beginning, and words
--- the message for a wrong one.
---
--- Rule kept here: a wrong argument gets a message of one line, because a typo must not do
--- something unexpected.
local did_you_mean = require('eca.config.did_you_mean')

local M = {}

--- Names that are reserved for later versions.
M.planned = vim.split('tools mcp providers jobs update rewrite complete', ' ')

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
  if vim.list_contains(M.planned, name) then
    return (':Eca %s does not exist in this version'):format(name)
  elseif #possible > 1 then
    return (':Eca %s is ambiguous: %s'):format(name, table.concat(possible, ', '))
  end
  local hint = near and ('; did you mean :Eca %s?'):format(near) or ''
  return ('unknown command :Eca %s%s'):format(name, hint)
end

--- What is wrong with an argument.
---@param name string of the subcommand
---@param subcommand eca.Subcommand
---@param bang boolean
---@param rest string
---@return string? fault one line
function M.fault(name, subcommand, bang, rest)
  local alone = bang and subcommand.bang == 'alone'
  if rest == '' or (subcommand.takes == 'text' and not alone) then
    return nil
  elseif alone or not subcommand.takes then
    return ("%s%s takes no argument, not '%s'"):format(name, alone and '!' or '', rest)
  end
  local is_word = vim.list_contains(subcommand.words or {}, rest)
  if not is_word and not (subcommand.number and rest:find(subcommand.number)) then
    return ("%s takes %s, not '%s'"):format(name, subcommand.takes, rest)
  end
end

return M
