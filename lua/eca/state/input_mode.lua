--- What the input of a chat takes: prompts, the answer to a question, or a secret for a login.
local M = {}

local logins = {} ---@type table<string, true>
local questions = {} ---@type table<string, eca.Pending>

--- Does a chat's input take a secret for a login?
---@param chat string
---@return boolean
function M.is_login(chat)
  return logins[chat] == true
end

---@param chat string
---@param runs boolean
function M.set_login(chat, runs)
  logins[chat] = runs or nil
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
  return not logins[chat] and not questions[chat]
end

---@param chat string
---@param question? eca.Pending
function M.set_question(chat, question)
  questions[chat] = question
end

return M
