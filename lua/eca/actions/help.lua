--- What can be done: the list of keys, as they are mapped in the current buffer, and the palette.
local abilities = require('eca.state.abilities')
local actions = require('eca.keymaps.actions')
local keys = require('eca.ui.keys')
local windows = require('eca.window')

local M = {}

---@class eca.KeySection
---@field title string
---@field mode string
---@field pending? boolean only keys that work on a pending request

local ANYWHERE = { title = 'normal', mode = 'n' } ---@type eca.KeySection

---@type eca.KeySection[]
local SECTIONS = {
  { title = 'on a pending request', mode = 'n', pending = true },
  ANYWHERE,
  { title = 'insert', mode = 'i' },
  { title = 'visual', mode = 'x' },
}

--- Modules of actions, the most needed first.
local ORDER = { 'prompts', 'approvals', 'blocks', 'chats', 'history', 'contexts' }

--- The keys of an action in a section, as the help spells them.
---@param section eca.KeySection
---@param name string
---@param action eca.Action
---@return string[]
local function keys_of(section, name, action)
  local found = vim.tbl_filter(function(key)
    return vim.list_contains(action.pending, key) == (section.pending or false)
  end, keys.all(0, section.mode, name))
  table.sort(found)
  return found
end

--- The keys of a section, grouped by module.
---@param section eca.KeySection
---@return eca.KeyRow[]
local function rows_of(section)
  local rows, places = {}, {} ---@type eca.KeyRow[], table<eca.KeyRow, string>
  local chat = windows.current_chat()
  for name, action in pairs(actions) do
    local found = keys_of(section, name, action)
    if #found > 0 and abilities.has(chat, action.needs) then
      local row = { table.concat(found, ' '), action.text }
      local module = vim.fn.index(ORDER, action.at)
      rows[#rows + 1] = row
      -- Both directions of a jump stand next to each other.
      local key = row[1]:gsub('^[][]+', ''):lower():gsub('^%-$', '~') -- letters before it
      places[row] = (module < 0 and action.at or module) .. key
    end
  end
  table.sort(rows, function(left, right)
    if places[left] == places[right] then
      return left[1] > right[1] -- `]]` before `[[`, and `a` before `A`
    end
    return places[left] < places[right]
  end)
  return rows
end

--- The keys of an action in normal mode that work anywhere in the current buffer.
---@param name string
---@return string[]
function M.of(name)
  return keys_of(ANYWHERE, name, actions[name])
end

--- Show the keys in a float; `q`, `<Esc>` or leaving it closes it.
function M.keys()
  keys.show(vim.tbl_map(function(section)
    return { title = section.title, rows = rows_of(section) }
  end, SECTIONS))
end

--- Open the palette.
function M.palette()
  vim.cmd.Eca()
end

return M
