--- The list of keys, as they are really mapped in the buffer at hand.
local M = {}

local MODES = { { 'n', 'normal' }, { 'i', 'insert' }, { 'x', 'visual' } }

--- All mappings of a mode that the current buffer has, its own and global ones.
---@param mode string
---@return vim.api.keyset.get_keymap[]
local function mappings(mode)
  local own = vim.api.nvim_buf_get_keymap(0, mode)
  return vim.list_extend(own, vim.api.nvim_get_keymap(mode))
end

--- Our keys have the description of their action, those of the user the name of its <Plug>.
---@param mapping vim.api.keyset.get_keymap
---@param name string
---@param text string
---@return boolean
local function does(mapping, name, text)
  return mapping.desc == 'eca: ' .. text or mapping.rhs == require('eca.keys').plug(name)
end

---@param mode string
---@return [string, string][] key and text, sorted
local function mapped(mode)
  local rows = {} ---@type [string, string][]
  for name, action in pairs(require('eca.keys').actions) do
    local keys = {} ---@type string[]
    for _, mapping in ipairs(mappings(mode)) do
      if does(mapping, name, action.text) then
        keys[#keys + 1] = mapping.lhs
      end
    end
    if #keys > 0 then
      table.sort(keys)
      rows[#rows + 1] = { table.concat(keys, ' '), action.text }
    end
  end
  table.sort(rows, function(left, right)
    return left[1]:lower() .. left[1] < right[1]:lower() .. right[1]
  end)
  return rows
end

--- A row of the list: a key, and what it does.
---@param key string
---@param text string
---@return string line, integer key_end
local function row_of(key, text)
  return ('  %-12s %s'):format(key, text), 2 + #key
end

---@return string[] lines, eca.Mark[] marks
local function content()
  local lines, marks = {}, {}
  for _, mode in ipairs(MODES) do
    local rows = mapped(mode[1])
    if #rows > 0 then
      lines[#lines + 1] = mode[2]
      marks[#marks + 1] = { #lines - 1, 0, #mode[2], 'EcaFloatTitle' }
    end
    for _, row in ipairs(rows) do
      local line, key_end = row_of(row[1], row[2])
      lines[#lines + 1] = line
      marks[#marks + 1] = { #lines - 1, 0, key_end, 'EcaKey' }
    end
  end
  return lines, marks
end

--- Show the keys of the float that asks; closing the list leads back into it.
---@param choices eca.Choice[]
---@param origin eca.Origin
function M.choices(choices, origin)
  local lines, marks = {}, {}
  for _, choice in ipairs(choices) do
    local text = choice.about or choice.text
    if text then
      local line, key_end = row_of(choice.told or choice.key, text)
      lines[#lines + 1] = line
      marks[#marks + 1] = { #lines - 1, 0, key_end, 'EcaKey' }
    end
  end
  local panel = { title = 'keys', lines = lines, marks = marks, key = 'g?', origin = origin }
  require('eca.panel').show(panel)
end

--- Show the keys in a float; `q`, `<Esc>` or leaving it closes it.
function M.keys()
  local lines, marks = content()
  require('eca.panel').show({ title = 'keys', lines = lines, marks = marks, key = 'g?' })
end

return M
