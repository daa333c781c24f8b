--- The <Plug> mappings: one stub at first, one mapping per action from the first use on.
---
--- Rules kept here:
--- - Each mapping costs 4 µs of every start, so `plugin/eca.lua` maps one stub for all actions. The
---   stub runs the first action; then each action gets its own mapping.
--- - `<Plug>(Eca…)` is never typed into a buffer, whatever is loaded.
local actions = require('eca.keymaps.actions')
local keys = require('eca.ui.keys')

local M = {}

--- Modes as in mappings: '' stands for normal, visual and operator-pending, '!' for insert and
--- command-line.
local MODES = { '', '!', 't' }

local STUB = '<Plug>(Eca'
local defined = false

--- Can the server of the current chat do something? A message says what it cannot do.
---@param ability? eca.Ability
---@return boolean
function M.is_able(ability)
  local chat = ability and require('eca.window').current_chat()
  local fault = ability and require('eca.state.abilities').fault(chat, ability)
  if fault then
    require('eca.ui.notify').warn(fault)
  end
  return not fault
end

--- Run an action. Called by the <Plug> mappings, and by `:Eca`.
---@param name string
---@param argument? string|integer of its subcommand
---@param bang? boolean
function M.run(name, argument, bang)
  local found = actions[name]
  require('eca.view') -- joins the host with what draws
  if M.is_able(found.needs) then
    local with, count = vim.list_slice(found.with), #found.with
    with[count + 1], with[count + 2] = argument, bang
    require('eca.actions.' .. found.at)[found.call](unpack(with, 1, count + 2))
  end
end

--- Map each action's <Plug>, and remove the stub.
function M.define()
  if defined then
    return
  end
  defined = true
  for _, mode in ipairs(MODES) do
    vim.keymap.del(mode, STUB) -- '' includes Select mode
  end
  for name in pairs(actions) do
    local run = ("<Cmd>lua require('eca.keymaps.plugs').run('%s')<CR>"):format(name)
    for _, mode in ipairs(MODES) do
      vim.api.nvim_set_keymap(mode, keys.plug(name), run, { noremap = true })
    end
  end
end

--- Read the rest of a <Plug>'s name, and run its action. Called by the stub.
function M.first()
  M.define()
  local name = ''
  repeat
    local key = vim.fn.getcharstr()
    name = name .. key
  until key == ')' or not key:find('%a')
  name = name:sub(1, -2)
  if actions[name] then
    M.run(name)
  else
    -- late: rarely needed
    require('eca.ui.notify').warn(('unknown action %s%s)'):format(STUB, name))
  end
end

return M
