--- The user's edits to proposed texts, while their tab page shows another file or is closed.
---
--- Rules kept here:
--- - A buffer with edits is kept whole, with its undo history, until its request is answered.
--- - Edits belong to one text of the agent. If the agent proposes another one they are discarded,
---   and a message says so.
local notify = require('eca.ui.notify')

local M = {}

---@class eca.KeptProposal
---@field buf integer
---@field path string
---@field place integer of the file in its call: several may be changes of one file
---@field text string of the agent
---@field tick integer changedtick before the first edit

local kept = {} ---@type table<string, eca.KeptProposal[]> by the id of the request

---@param diff eca.Diff
---@return integer
local function place_of(diff)
  return diff.file and diff.file.place or 0
end

---@param diff eca.Diff of a pending request
---@return eca.KeptProposal?
local function take(diff)
  local proposals = kept[diff.request.id] or {}
  for index, proposal in ipairs(proposals) do
    if proposal.path == diff.path and proposal.place == place_of(diff) then
      return table.remove(proposals, index)
    end
  end
end

---@param proposals eca.KeptProposal[]
local function discard(proposals)
  local names = {} ---@type string[]
  for index, proposal in ipairs(proposals) do
    names[index] = vim.fs.basename(proposal.path)
    if vim.api.nvim_buf_is_valid(proposal.buf) then
      vim.api.nvim_buf_delete(proposal.buf, { force = true })
    end
  end
  if #names > 0 then
    local list = table.concat(names, ', ')
    notify.warn(('your edits to the proposal of %s are discarded'):format(list))
  end
end

--- Does a buffer have other lines than a text?
---@param buf integer
---@param text string
---@return boolean
local function differs(buf, text)
  if not vim.api.nvim_buf_is_loaded(buf) then
    return false
  end
  local now = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
  ---@param whole string
  local function plain(whole)
    return (whole:gsub('\r\n', '\n'):gsub('\r$', ''))
  end
  return plain(now) ~= plain((text:gsub('\n$', '')))
end

--- Keep the proposed text of a pending request if the user has edited it. Called before its window
--- is gone.
---@param diff eca.Diff
---@param sides eca.DiffSides
function M.keep(diff, sides)
  local buf, id = sides.bound, diff.request.id
  if vim.api.nvim_buf_is_valid(buf) and vim.api.nvim_buf_get_changedtick(buf) ~= sides.tick then
    vim.bo[buf].bufhidden = 'hide'
    kept[id] = kept[id] or {}
    local proposal = { buf = buf, path = diff.path, place = place_of(diff) }
    proposal.text, proposal.tick = diff.after, sides.tick
    table.insert(kept[id], proposal)
  end
end

--- The edited text of a file, to be shown again.
---@param diff eca.Diff
---@return integer? buf, integer? tick changedtick before the first edit
function M.take(diff)
  local proposal = diff.request and take(diff)
  if not proposal then
    return nil
  elseif proposal.text ~= diff.after or not vim.api.nvim_buf_is_loaded(proposal.buf) then
    discard({ proposal })
    return nil
  end
  vim.bo[proposal.buf].bufhidden = 'wipe'
  return proposal.buf, proposal.tick
end

--- The file whose proposed text the user has edited, of the one that is shown and those kept.
---@param diff eca.Diff of a request
---@param sides eca.DiffSides that are shown
---@return string? name
function M.edited(diff, sides)
  if differs(sides.bound, diff.after) then
    return vim.fs.basename(diff.path)
  end
  for _, proposal in ipairs(kept[diff.request.id] or {}) do
    if differs(proposal.buf, proposal.text) then
      return vim.fs.basename(proposal.path)
    end
  end
end

--- Discard the edits of a request that was answered.
---@param id string
function M.discard(id)
  local proposals = kept[id] or {}
  kept[id] = nil
  discard(proposals)
end

--- Discard the edits of requests that are not pending any more.
---@param pending eca.Request[]
function M.discard_gone(pending)
  for id in pairs(kept) do
    local is_pending = vim.iter(pending):any(function(request)
      return request.id == id
    end)
    if not is_pending then
      M.discard(id)
    end
  end
end

return M
