--- Checks the names and arguments of `:Eca`'s subcommands: finds a name by its beginning, and words
--- the message for a wrong one.
---
--- Rules kept here: a subcommand that is not named here takes no argument. A wrong argument gets a
--- message of one line, because a typo must not do something unexpected.
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

--- What `:Eca changes` does with the change under the cursor.
M.CHANGE_ACTS = { 'keep', 'revert', 'comment', 'send' }

--- These check their arguments themselves.
local WORDS = vim.split(
  'rename flag export grep steer queue approve reject answer trust add model agent variant '
    .. 'options help server start restart quit template login logout folder',
  ' '
)

local TURN = 'the number of a turn'
---@type table<string, string>
local NUMBERS = {
  chats = 'the number of a chat',
  choose = 'the number of a choice',
  unqueue = 'the number of a queued prompt',
  changes = TURN,
  ['undo-turn'] = TURN,
}

--- With a `!` these take no argument.
local ALONE_WITH_BANG = { 'flag', 'agent' }

---@param name string
---@param rest string
---@return boolean
local function is_number(name, rest)
  local act = name == 'changes' and vim.list_contains(M.CHANGE_ACTS, rest)
  local titled = name == 'chats' and rest:find('^%d+%s') -- as it is completed
  return act or titled or rest:find('^%d+$') ~= nil
end

--- What is wrong with an argument.
---@param name string of the subcommand
---@param bang boolean
---@param rest string
---@return string? fault one line
function M.fault(name, bang, rest)
  local wanted = NUMBERS[name]
  local alone = bang and vim.list_contains(ALONE_WITH_BANG, name)
  if rest == '' or (vim.list_contains(WORDS, name) and not alone) then
    return nil
  elseif not wanted then
    return ("%s%s takes no argument, not '%s'"):format(name, alone and '!' or '', rest)
  elseif not is_number(name, rest) then
    return ("%s takes %s, not '%s'"):format(name, wanted, rest)
  end
end

return M
