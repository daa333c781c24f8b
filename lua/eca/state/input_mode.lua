--- What the input of a chat takes: prompts, or the answer to a question; and which chats ask for a
--- secret, which is not typed into the input.
local M = {}

local secrets = {} ---@type table<string, eca.Pending> by chat
local questions = {} ---@type table<string, eca.Pending>

--- The question for a secret that is pending in a chat.
---@param chat string
---@return eca.Pending?
function M.secret(chat)
  return secrets[chat]
end

---@param chat string
---@param question? eca.Pending
function M.set_secret(chat, question)
  secrets[chat] = question
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
  return not questions[chat]
end

---@param chat string
---@param question? eca.Pending
function M.set_question(chat, question)
  questions[chat] = question
end

return M
