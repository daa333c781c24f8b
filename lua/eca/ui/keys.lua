--- How keys and <Plug>s of actions are spelled.
local M = {}

--- The name of an action as a mapping has it.
---@param action string
---@return string
function M.plug(action)
  return ('<Plug>(Eca%s)'):format(action)
end

--- A key as the documentation writes it; Neovim itself reports `<C-C>`.
---@param key string
---@return string
function M.written(key)
  return (key:gsub('<C%-%u>', string.lower):gsub('<c%-', '<C-'))
end

return M
