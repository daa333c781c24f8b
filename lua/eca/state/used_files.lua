--- Which files the agents have used, as the host has said.
---
--- Rules kept here:
--- - The host counts. It sends the heat of a file as of the turn in which the file was last used;
---   each turn since then has halved it.
--- - Changes are announced once a frame, however many there are.
local M = {}

---@class eca.FileUsed
---@field path string absolute
---@field outside boolean it is outside the workspace
---@field turn integer in which it was last used; 0: not since this Neovim has the chat
---@field heat number each use adds 1, each turn halves it
---@field read integer how often
---@field written integer
---@field mentioned integer in prompts and messages
---@field run integer named by commands

---@class eca.ChatFiles
---@field turn integer the chat's
---@field files table<string, eca.FileUsed> by path, with the heat as of their turn
---@field changed table<string, true> paths of files that are not announced yet

local chats = {} ---@type table<string, eca.ChatFiles>

---@param a eca.FileUsed
---@param b eca.FileUsed
---@return boolean
local function is_hotter(a, b)
  local uses = a.read + a.written + a.mentioned + a.run
  local others = b.read + b.written + b.mentioned + b.run
  if a.heat ~= b.heat then
    return a.heat > b.heat
  elseif uses ~= others then
    return uses > others
  end
  return a.path < b.path
end

---@param files eca.FileUsed[]
---@param turn integer
---@return eca.FileUsed[]
local function sorted(files, turn)
  local list = vim.tbl_map(function(file)
    local none = { read = 0, written = 0, mentioned = 0, run = 0 }
    local copy = vim.tbl_extend('force', none, file)
    copy.heat = file.heat * 0.5 ^ (turn - file.turn)
    return copy
  end, files)
  table.sort(list, is_hotter)
  return list
end

--- Op `used`.
---@param chat string
---@param turn integer
---@param files eca.FileUsed[] with the counts that are not 0
---@param dropped string[] paths
function M.set(chat, turn, files, dropped)
  chats[chat] = chats[chat] or { turn = 0, files = {}, changed = {} }
  local known = chats[chat]
  known.turn = turn
  for _, path in ipairs(dropped) do
    known.files[path], known.changed[path] = nil, nil
  end
  for _, file in ipairs(files) do
    known.files[file.path] = file
    known.changed[file.path] = file.heat > 0 or nil -- what a replay counts changes no heat
  end
end

--- Op `forget`.
---@param chat string
function M.forget(chat)
  chats[chat] = nil
end

--- The files of a chat, the hottest first.
---@param chat string
---@return eca.FileUsed[]
function M.list(chat)
  local known = chats[chat]
  return known and sorted(vim.tbl_values(known.files), known.turn) or {}
end

--- The chats whose tools have written a file.
---@param path string
---@return string[]
function M.writers(path)
  return vim.tbl_filter(function(chat)
    local file = chats[chat].files[path]
    return file ~= nil and (file.written or 0) > 0
  end, vim.tbl_keys(chats))
end

---@class eca.FilesUsed
---@field chat string
---@field turn integer
---@field files eca.FileUsed[]

--- The files that were used since the last time, to announce.
---@return eca.FilesUsed[]
function M.take_changed()
  local all = {} ---@type eca.FilesUsed[]
  for id, known in pairs(chats) do
    if next(known.changed) then
      local changed = vim.tbl_map(function(path)
        return known.files[path]
      end, vim.tbl_keys(known.changed))
      known.changed = {}
      all[#all + 1] = { chat = id, turn = known.turn, files = sorted(changed, known.turn) }
    end
  end
  return all
end

return M
