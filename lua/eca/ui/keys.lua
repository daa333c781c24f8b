--- How keys and <Plug>s of actions are spelled, and which key an action has.
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

return M
