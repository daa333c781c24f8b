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

--- The keys that run an action in a buffer, as the help spells them.
---@param buf integer
---@param mode string
---@param action string
---@return string[] own mapped in the buffer by the user
---@return string[] defaults
---@return string[] global
local function mapped(buf, mode, action)
  local plug, own, defaults, global = M.plug(action), {}, {}, {}
  local mappings = vim.api.nvim_buf_get_keymap(buf, mode)
  for _, mapping in ipairs(vim.list_extend(mappings, vim.api.nvim_get_keymap(mode))) do
    local rhs, is_ours = mapping.rhs or '', vim.startswith(mapping.desc or '', 'eca: ')
    -- A default that runs it only in some places is a call that names it.
    local is_call = is_ours and rhs:find(("('%s',"):format(action), 1, true)
    local found = is_ours and defaults or mapping.buffer > 0 and own or global
    found[#found + 1] = (rhs == plug or is_call) and M.spell(mapping.lhs) or nil
  end
  return own, defaults, global
end

--- All keys that run an action in a buffer, its own before global ones, as the help spells them.
---@param buf integer 0 for the current one
---@param mode string
---@param action string
---@return string[]
function M.all(buf, mode, action)
  return vim.iter({ mapped(buf, mode, action) }):flatten():totable()
end

--- A key that runs an action in a buffer, as the help spells it: the user's own before a default.
---@param buf integer 0 for the current one
---@param mode string
---@param action string
---@param preferred? string one of several defaults
---@return string? key nil if there is none
function M.of(buf, mode, action, preferred)
  local own, defaults, global = mapped(buf, mode, action)
  local default = vim.list_contains(defaults, preferred) and preferred or defaults[1]
  return own[1] or default or global[1]
end

---@alias eca.KeyRow [string, string] keys, and what they do
---@alias eca.KeyRows { title?: string, rows: eca.KeyRow[] }

--- Show keys in a float, the texts in one column; `q`, `<Esc>`, `g?` or leaving it closes it.
---@param sections eca.KeyRows[] those without rows are left out
---@param origin? eca.Origin where closing it returns to, default: where the user is
function M.show(sections, origin)
  local widest, lines = 0, {} ---@type integer, eca.Segment[][]
  for _, section in ipairs(sections) do
    for _, row in ipairs(section.rows) do
      widest = math.max(widest, #row[1])
    end
  end
  for _, section in ipairs(sections) do
    if section.title and #section.rows > 0 then
      lines[#lines + 1] = { { section.title, 'EcaFloatTitle' } }
    end
    for _, row in ipairs(section.rows) do
      local text = (' '):rep(widest - #row[1] + 1) .. row[2]
      lines[#lines + 1] = { { '  ', '' }, { row[1], 'EcaKey' }, { text, '' } }
    end
  end
  local panel = require('eca.ui.panel') -- late: keys are spelled long before
  panel.show({ title = 'keys', rows = lines, key = 'g?', origin = origin })
end

return M
