--- Remembers where the user is before a window of ours opens, and returns there.
---
--- Rules kept here:
--- - A window that the user asked for may open late. It takes the focus only if the user has
---   pressed no key since, because keys belong where they were typed. Otherwise a message says to
---   ask again.
--- - Returning restores the cursor, and insert mode if the user came from it.
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')

local M = {}

---@class eca.Origin
---@field win integer
---@field inserting boolean in insert mode, or typing in a terminal
---@field cursor [integer, integer]
---@field in_float? boolean they have entered the approval float from there

---@class eca.Asked
---@field typed boolean a key was pressed since

local namespace = vim.api.nvim_create_namespace('eca.ui.return_window')

local waiting = {} ---@type eca.Asked[]
local float_origin = function() end ---@type fun(): eca.Origin?

--- Set how the approval float says where the user came from: nil while they are elsewhere.
---@param origin fun(): eca.Origin?
function M.set_float(origin)
  float_origin = origin
end

local function key_pressed()
  for _, asked in ipairs(waiting) do
    asked.typed = true
  end
  waiting = {}
  vim.on_key(nil, namespace)
end

--- The user has just asked for something that opens later: watch whether they press a key.
---@return eca.Asked
function M.asked()
  local asked = { typed = false }
  waiting[#waiting + 1] = asked
  vim.on_key(key_pressed, namespace)
  return asked
end

--- May something that was asked for take the focus? If not, a message says so.
---@param asked? eca.Asked nil: the user has not asked for it
---@param what string
---@return boolean
function M.may_focus(asked, what)
  local mode = vim.api.nvim_get_mode().mode
  local busy = mode:find('^[cr!]') or mode:find('^no')
  if asked and not asked.typed and not busy or not asked and mode == 'n' then
    return true
  end
  notify.info(('%s was not opened, as you kept typing: ask again'):format(what))
  return false
end

--- Is text typed here: in insert mode or a terminal, also while one key of normal mode is?
---@return boolean
function M.is_inserting()
  local mode = vim.api.nvim_get_mode().mode
  return mode:find('^[iRt]') ~= nil or mode:find('^ni') ~= nil or mode == 'ntT'
end

--- Where the user is now; inside the approval float, where they came from.
---@return eca.Origin
function M.here()
  local win, cursor = vim.api.nvim_get_current_win(), vim.api.nvim_win_get_cursor(0)
  return float_origin() or { win = win, inserting = M.is_inserting(), cursor = cursor }
end

--- Return the user to where they were.
---@param origin eca.Origin
function M.go_back(origin)
  if not vim.api.nvim_win_is_valid(origin.win) then
    return
  end
  others.go_to(origin.win)
  if not origin.inserting then
    vim.cmd.stopinsert()
    return
  end
  if vim.bo.buftype ~= 'terminal' then
    vim.api.nvim_win_set_cursor(0, origin.cursor)
  end
  local at_end = origin.cursor[2] >= #vim.api.nvim_get_current_line()
  vim.cmd.startinsert({ bang = at_end })
end

return M
