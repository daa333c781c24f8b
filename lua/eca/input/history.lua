--- The prompts that were sent in this project, by this Neovim and earlier ones, to step through.
---
--- Rules kept here:
--- - The host saves them. A prompt sent here is in the list at once; each prompt is in it once.
--- - The draft counts as the newest entry: stepping back keeps it, stepping forward restores it.
---   The user steps through the list as it was when they began.
local M = {}

local MOST = 500 -- as many as `eca_nvim/store.py` keeps (MOST_PROMPTS)

---@class eca.Walk
---@field prompts string[] oldest first
---@field at integer index of the prompt shown
---@field draft string

local prompts = {} ---@type string[] oldest first
local walks = require('eca.chat.buffers').memory() ---@type table<string, eca.Walk> by chat

--- Set the prompts that the host has saved (op `prompts`).
---@param saved string[] oldest first
function M.set(saved)
  prompts = saved
end

--- All prompts, newest first.
---@return string[]
function M.newest_first()
  return vim.iter(prompts):rev():totable()
end

--- Add a prompt that is sent: the host saves it.
---@param chat string
---@param text string
function M.add(chat, text)
  walks[chat] = nil
  local others = vim.tbl_filter(function(prompt)
    return prompt ~= text
  end, prompts)
  prompts = vim.list_slice(others, math.max(1, #others - MOST + 2))
  prompts[#prompts + 1] = text
end

--- The draft while the user looks at older prompts, and the prompt that is shown instead.
---@param chat string
---@return string draft
---@return string? prompt
function M.draft_before(chat)
  local walk = walks[chat]
  return walk and walk.draft or '', walk and walk.prompts[walk.at]
end

--- End the user's steps through older prompts. Returns what `draft_before` does.
---@param chat string
---@return string draft
---@return string? prompt
function M.leave(chat)
  local draft, prompt = M.draft_before(chat)
  walks[chat] = nil
  return draft, prompt
end

--- The prompt one step older (-1) or newer (1); nil at either end.
---@param chat string
---@param step -1|1
---@param shown string what the input holds now
---@return string?
function M.step(chat, step, shown)
  local walk = walks[chat] or { prompts = prompts, at = #prompts + 1, draft = shown }
  local at, count = walk.at + step, #walk.prompts
  if at < 1 or at > count + 1 then
    return nil
  end
  walk.at = at
  walks[chat] = at <= count and walk or nil
  return walk.prompts[at] or walk.draft
end

return M
