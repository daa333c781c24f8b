--- The user's edits to proposed texts, while their tab page shows another file or is closed.
---
--- Rules kept here:
--- - A buffer with edits is kept whole, with its undo history, until its request is answered.
--- - Edits belong to one text of the agent. If the agent proposes another one they are discarded,
---   and a message says so.
local notify = require('eca.ui.notify')

local M = {}

---@class eca.KeptProposal
---@field id string of its request
---@field buf integer
---@field path string
---@field place? integer of the file in its call: several may be changes of one file
---@field text string of the agent
---@field tick integer changedtick before the first edit

local kept = {} ---@type eca.KeptProposal[]

---@param proposals eca.KeptProposal[]
local function discard(proposals)
  local names = {} ---@type string[]
  for index, proposal in ipairs(proposals) do
    names[index] = vim.fs.basename(proposal.path)
    if vim.api.nvim_buf_is_valid(proposal.buf) then
      vim.api.nvim_buf_delete(proposal.buf, { force = true })
    end
  end
  local list = table.concat(names, ', ')
  notify.warn(('your edits to the proposal of %s are discarded'):format(list))
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
  local buf, tick = sides.bound, sides.tick
  if vim.api.nvim_buf_is_valid(buf) and vim.api.nvim_buf_get_changedtick(buf) ~= tick then
    vim.bo[buf].bufhidden = 'hide'
    local proposal = { id = diff.request.id, buf = buf, path = diff.path, tick = tick }
    proposal.place, proposal.text = diff.file and diff.file.place, diff.after
    kept[#kept + 1] = proposal
  end
end

--- The edited text of a file, to be shown again.
---@param diff eca.Diff
---@return integer? buf, integer? tick changedtick before the first edit
function M.take(diff)
  local id, place = diff.request and diff.request.id, diff.file and diff.file.place
  for index, proposal in ipairs(kept) do
    if proposal.id == id and proposal.path == diff.path and proposal.place == place then
      table.remove(kept, index)
      if proposal.text == diff.after and vim.api.nvim_buf_is_loaded(proposal.buf) then
        vim.bo[proposal.buf].bufhidden = 'wipe'
        return proposal.buf, proposal.tick
      end
      return discard({ proposal })
    end
  end
end

--- The file whose proposed text the user has edited, of the one that is shown and those kept.
---@param diff eca.Diff of a request
---@param sides eca.DiffSides that are shown
---@return string? name
function M.edited(diff, sides)
  if differs(sides.bound, diff.after) then
    return vim.fs.basename(diff.path)
  end
  for _, proposal in ipairs(kept) do
    if proposal.id == diff.request.id and differs(proposal.buf, proposal.text) then
      return vim.fs.basename(proposal.path)
    end
  end
end

--- Discard the edits of requests that are not pending any more.
---@param pending eca.Request[]
function M.discard_gone(pending)
  local ids = {} ---@type table<string, true>
  for _, request in ipairs(pending) do
    ids[request.id] = true
  end
  local gone = vim.tbl_filter(function(proposal)
    return not ids[proposal.id]
  end, kept)
  if gone[1] then
    kept = vim.tbl_filter(function(proposal)
      return ids[proposal.id] ~= nil
    end, kept)
    discard(gone)
  end
end

return M
