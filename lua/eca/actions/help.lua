--- The list of keys, as they are mapped in the current buffer.
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
local ORDER = { 'prompts', 'approvals', 'blocks', 'chats', 'manage', 'history', 'contexts' }

--- All mappings of a mode in the current buffer, local and global ones.
---@param mode string
---@return vim.api.keyset.get_keymap[]
local function mappings(mode)
  local own = vim.api.nvim_buf_get_keymap(0, mode)
  return vim.list_extend(own, vim.api.nvim_get_keymap(mode))
end

--- Does a mapping run an action? Ours have its text as their description, the user's its <Plug>.
---@param mapping vim.api.keyset.get_keymap
---@param name string
---@param text string
---@return boolean
local function runs(mapping, name, text)
  return mapping.desc == 'eca: ' .. text or mapping.rhs == keys.plug(name)
end

--- The keys of an action in a section, as the help spells them.
---@param section eca.KeySection
---@param name string
---@param action eca.Action
---@return string[]
local function keys_of(section, name, action)
  local found = {} ---@type string[]
  for _, mapping in ipairs(mappings(section.mode)) do
    local key = keys.spell(mapping.lhs)
    local pending = vim.list_contains(action.pending or {}, key)
    if runs(mapping, name, action.text) and pending == (section.pending or false) then
      found[#found + 1] = key
    end
  end
  table.sort(found)
  return found
end

--- Sort both directions of a jump next to each other, `]]` before `[[`, and `a` before `A`.
---@param left string
---@param right string
---@return boolean
local function comes_first(left, right)
  local first, second = left:gsub('^[][]+', ''):lower(), right:gsub('^[][]+', ''):lower()
  if first == second then
    return left > right
  end
  return first < second
end

--- The place of a module's keys, as text to sort by.
---@param module string
---@return string
local function place_of(module)
  for place, name in ipairs(ORDER) do
    if name == module then
      return tostring(place)
    end
  end
  return module
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
      rows[#rows + 1], places[row] = row, place_of(action.at)
    end
  end
  table.sort(rows, function(left, right)
    if places[left] == places[right] then
      return comes_first(left[1], right[1])
    end
    return places[left] < places[right]
  end)
  return rows
end

---@return string[] lines, eca.Mark[] marks
local function content()
  local lines, marks = {}, {}
  local sections = vim.tbl_map(rows_of, SECTIONS)
  local columns = math.max(unpack(vim.tbl_map(keys.widest, sections)))
  for index, rows in ipairs(sections) do
    if #rows > 0 then
      marks[#marks + 1] = { #lines, 0, -1, 'EcaFloatTitle' }
      lines[#lines + 1] = SECTIONS[index].title
      keys.write_rows(rows, columns, lines, marks)
    end
  end
  return lines, marks
end

--- The keys of an action in normal mode that work anywhere in the current buffer.
---@param name string
---@return string[]
function M.of(name)
  return keys_of(ANYWHERE, name, actions[name])
end

--- Show the keys in a float; `q`, `<Esc>` or leaving it closes it.
function M.keys()
  local lines, marks = content()
  keys.show(lines, marks)
end

return M
