--- Checks the arguments of `:Eca`'s subcommands.
---
--- Rules kept here: a subcommand that is not named here takes no argument. A wrong argument gets a
--- message of one line, because a typo must not do something unexpected.
local M = {}

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
