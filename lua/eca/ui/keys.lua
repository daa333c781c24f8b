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

--- The keys that run an action in a buffer, its own before global ones, as the help spells them.
---@param buf integer 0 for the current one
---@param mode string
---@param action string
---@return string[]
function M.all(buf, mode, action)
  local plug, found = M.plug(action), {} ---@type string, string[]
  local mappings = vim.api.nvim_buf_get_keymap(buf, mode)
  for _, mapping in ipairs(vim.list_extend(mappings, vim.api.nvim_get_keymap(mode))) do
    local rhs, is_ours = mapping.rhs or '', vim.startswith(mapping.desc or '', 'eca: ')
    -- A default that runs it only in some places is a call that names it.
    local is_call = is_ours and rhs:find(("('%s',"):format(action), 1, true)
    found[#found + 1] = (rhs == plug or is_call) and M.spell(mapping.lhs) or nil
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
  local found = M.all(buf, mode, action)
  return preferred and vim.list_contains(found, preferred) and preferred or found[1]
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
