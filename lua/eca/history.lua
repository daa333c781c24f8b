--- The prompts of this session, a list a chat, to go back and forth in.
---
--- Rules kept here: the draft is the newest entry; going back keeps it, coming forth restores it.
local M = {}

---@class eca.History
---@field prompts string[] oldest first
---@field at? integer the prompt shown, nil: the draft
---@field draft string

local histories = {} ---@type table<string, eca.History>

---@param chat string
---@return eca.History
local function of(chat)
  histories[chat] = histories[chat] or { prompts = {}, draft = '' }
  return histories[chat]
end

--- Remember a prompt that was sent.
---@param chat string
---@param text string
function M.add(chat, text)
  local history = of(chat)
  if history.prompts[#history.prompts] ~= text then
    table.insert(history.prompts, text)
  end
  history.at, history.draft = nil, ''
end

--- The prompt one step older (-1) or newer (1); nil at either end.
---@param chat string
---@param step -1|1
---@param shown string what the input holds now
---@return string?
function M.step(chat, step, shown)
  local history = of(chat)
  local count = #history.prompts
  local at = (history.at or count + 1) + step
  if at < 1 or at > count + 1 then
    return nil
  end
  if not history.at then
    history.draft = shown
  end
  history.at = at <= count and at or nil
  return history.at and history.prompts[at] or history.draft
end

return M
