--- What the server of a chat cannot do, and the sentence that says so.
---
--- Rule kept here: everything is offered until the host sends what a server lacks.
local mirror = require('eca.state.mirror')

local M = {}

---@alias eca.Ability 'steer'|'rollback'|'fork'|'fork_here'|'flags'|'clear'|'rename'|'delete'|'list'
---|'login'|'logout'|'folders'

---@type table<eca.Ability, string>
M.CANNOT = {
  steer = 'cannot be steered',
  rollback = 'cannot roll back messages',
  fork = 'cannot fork chats',
  fork_here = 'forks whole chats only',
  flags = 'has no flags',
  clear = 'cannot clear chats',
  rename = 'cannot rename chats',
  delete = 'cannot delete chats',
  list = 'cannot list its saved chats',
  login = 'has no login: log in with its own program',
  logout = 'cannot log out: use its own program for that',
  folders = 'gets only the names of folders',
}

--- Whether the server of a chat can do something; without a name there is nothing to lack.
---@param chat? string
---@param ability? eca.Ability
---@return boolean
function M.has(chat, ability)
  return not vim.list_contains(mirror.status(chat).lacks or {}, ability)
end

--- Why the server of a chat cannot do something; nil if it can.
---@param chat? string
---@param ability eca.Ability
---@return string?
function M.fault(chat, ability)
  if not M.has(chat, ability) then
    return ('this server %s'):format(M.CANNOT[ability])
  end
end

return M
