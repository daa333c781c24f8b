--- How keys and <Plug>s of actions are spelled, which key an action has, and a float that lists
--- keys and what each of them does.
local M = {}

--- The <Plug> of an action.
---@param action string
---@return string
function M.plug(action)
  return ('<Plug>(Eca%s)'):format(action)
end

--- A key as the help spells it: Neovim reports `<C-C>` for `<C-c>`.
---@param key string
---@return string
function M.spell(key)
  return (key:gsub('<C%-%u>', string.lower):gsub('<c%-', '<C-'):gsub(' ', '<Space>'))
end

--- Does a mapping run an action? A default that does so only in some places is a function; it is
--- known by its key and our description.
---@param mapping vim.api.keyset.get_keymap
---@param plug string
---@param preferred? string
---@return boolean
local function runs(mapping, plug, preferred)
  if mapping.callback then
    return M.spell(mapping.lhs) == preferred and vim.startswith(mapping.desc or '', 'eca: ')
  end
  return mapping.rhs == plug
end

---@param mappings vim.api.keyset.get_keymap[]
---@param plug string
---@param preferred? string
---@return string?
local function among(mappings, plug, preferred)
  local found ---@type string?
  for _, mapping in ipairs(mappings) do
    local key = runs(mapping, plug, preferred) and M.spell(mapping.lhs) or nil
    if key and key == preferred then
      return key
    end
    found = found or key
  end
  return found
end

--- A key that runs an action in a buffer, as the help spells it.
---@param buf integer 0 for the current one
---@param mode string
---@param action string
---@param preferred? string named if it is one of several: a default
---@return string? key nil if there is none
function M.of(buf, mode, action, preferred)
  local plug = M.plug(action)
  local own = among(vim.api.nvim_buf_get_keymap(buf, mode), plug, preferred)
  return own or among(vim.api.nvim_get_keymap(mode), plug, preferred)
end

---@alias eca.KeyRow [string, string] keys, and what they do

---@param rows eca.KeyRow[]
---@return integer bytes of the widest keys
function M.widest(rows)
  local widest = 0
  for _, row in ipairs(rows) do
    widest = math.max(widest, #row[1])
  end
  return widest
end

--- Append rows; the texts begin in the same column.
---@param rows eca.KeyRow[]
---@param columns integer bytes of the widest keys
---@param lines string[]
---@param marks eca.Mark[]
function M.write_rows(rows, columns, lines, marks)
  for _, row in ipairs(rows) do
    marks[#marks + 1] = { #lines, 2, 2 + #row[1], 'EcaKey' }
    lines[#lines + 1] = ('  %s%s %s'):format(row[1], (' '):rep(columns - #row[1]), row[2])
  end
end

--- Show a list; `q`, `<Esc>`, `g?` or leaving the window closes it.
---@param lines string[]
---@param marks eca.Mark[]
---@param origin? eca.Origin where closing it returns to, default: where the user is
function M.show(lines, marks, origin)
  local panel = require('eca.ui.panel') -- late: keys are spelled long before
  panel.show({ title = 'keys', lines = lines, marks = marks, key = 'g?', origin = origin })
end

--- Show the keys of a float; closing the list returns to the float.
---@param choices eca.Choice[]
---@param origin eca.Origin
function M.show_choices(choices, origin)
  local lines, marks, rows = {}, {}, {} ---@type string[], eca.Mark[], eca.KeyRow[]
  for _, choice in ipairs(choices) do
    local text = choice.about or choice.text
    rows[#rows + 1] = text and { choice.label or choice.key, text }
  end
  M.write_rows(rows, M.widest(rows), lines, marks)
  M.show(lines, marks, origin)
end

return M
