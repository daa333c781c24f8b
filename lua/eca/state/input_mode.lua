--- What the input of a chat takes: prompts, the answer to a question, or a secret.
local M = {}

---@alias eca.SecretPurpose 'login'|'answer'

local secrets = {} ---@type table<string, eca.SecretPurpose> by chat
local questions = {} ---@type table<string, eca.Pending>

--- What a chat's input takes a secret for, nil if it takes none.
---@param chat string
---@return eca.SecretPurpose?
function M.secret(chat)
  return secrets[chat]
end

--- Does a chat's input take a secret for a login?
---@param chat string
---@return boolean
function M.is_login(chat)
  return secrets[chat] == 'login'
end

---@param chat string
---@param purpose? eca.SecretPurpose
function M.set_secret(chat, purpose)
  secrets[chat] = purpose
end

--- The question that a chat's input answers.
---@param chat string
---@return eca.Pending?
function M.question(chat)
  return questions[chat]
end

--- Does a chat's input take prompts?
---@param chat string
---@return boolean
function M.takes_prompt(chat)
  return not secrets[chat] and not questions[chat]
end

---@param chat string
---@param question? eca.Pending
function M.set_question(chat, question)
  questions[chat] = question
end

return M
