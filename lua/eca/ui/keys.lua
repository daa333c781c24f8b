--- How keys and <Plug>s of actions are spelled.
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
  return (key:gsub('<C%-%u>', string.lower):gsub('<c%-', '<C-'))
end

return M
