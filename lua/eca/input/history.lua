--- The prompts that were sent in this project, by this Neovim and earlier ones, to step through.
---
--- Rules kept here:
--- - The host saves them. A prompt sent here is in the list at once; each prompt is in it once.
--- - The draft counts as the newest entry: stepping back keeps it, stepping forward restores it.
---   The user steps through the list as it was when they began.
--- - What has become of a prompt in the input belongs to the draft, below what was typed before.
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
---@param text string
function M.add(text)
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

--- Keep what the input shows as part of the draft, unless it is the older prompt as it was.
---@param walk eca.Walk
---@param shown string
local function keep(walk, shown)
  if shown:find('%S') and shown ~= (walk.prompts[walk.at] or walk.draft) then
    walk.draft = walk.draft:find('%S') and ('%s\n%s'):format(walk.draft, shown) or shown
  end
end

--- End the user's steps through older prompts. Returns the draft.
---@param chat string
---@param shown? string what the input holds now, unless that is sent
---@return string
function M.leave(chat, shown)
  local walk = walks[chat]
  walks[chat] = nil
  if walk and shown then
    keep(walk, shown)
  end
  return walk and walk.draft or shown or ''
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
  keep(walk, shown)
  walk.at = at
  walks[chat] = at <= count and walk or nil
  return walk.prompts[at] or walk.draft
end

return M
