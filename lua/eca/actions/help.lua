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
      lines[#lines + 1] = ('  %-12s %s'):format(row[1], row[2])
      marks[#marks + 1] = { #lines - 1, 0, 2 + #row[1], 'EcaKey' }
    end
  end
  return lines, marks
end

--- Show the keys in a float; `q`, `<Esc>` or leaving it closes it.
function M.keys()
  local lines, marks = content()
  require('eca.panel').show({ title = 'keys', lines = lines, marks = marks, key = 'g?' })
end

return M
