--- The <Plug> mappings and what they do: a stub at the start, all of them from the first use on.
---
--- Rules kept here:
--- - A mapping takes 4 µs of every start, so `plugin/eca.lua` makes one for all actions. What was
---   pressed first is done by that one; then each action has its own.
--- - `<Plug>(Eca…)` is never typed into a buffer, whatever is loaded.
local actions = require('eca.keymaps.actions')
local keys = require('eca.ui.keys')

local M = {}

--- Modes as mappings have them: '' stands for all without text to type into, '!' for those with.
local ANYWHERE = { '', '!', 't' }

--- The modes of actions that are not for normal mode alone.
local MODES = {
  AddContext = { '' },
  Answer = ANYWHERE,
  Approval = ANYWHERE,
  Approve = ANYWHERE,
  ApproveAll = ANYWHERE,
  ApproveRemember = ANYWHERE,
  Chat = ANYWHERE,
  Diff = ANYWHERE,
  Hide = ANYWHERE,
  HistoryNext = { 'n', '!' },
  HistoryPrevious = { 'n', '!' },
  Queue = ANYWHERE,
  Reject = ANYWHERE,
  RejectReason = ANYWHERE,
  Stop = ANYWHERE,
  Submit = ANYWHERE,
  Toggle = ANYWHERE,
  Unqueue = { 'n', '!' },
}

local STUB = '<Plug>(Eca'
local defined = false

--- Do what an action does. Called by the <Plug> mappings.
---@param name string
function M.run(name)
  local found = actions[name]
  require('eca.view') -- what an action says is heard
  require('eca.actions.' .. found.at)[found.call]()
end

--- Map each action's <Plug>, and take the stub away.
function M.define()
  if defined then
    return
  end
  defined = true
  for _, mode in ipairs(ANYWHERE) do
    vim.keymap.del(mode, STUB) -- '' takes the one of Select mode along
  end
  for name in pairs(actions) do
    local run = ("<Cmd>lua require('eca.keymaps.plugs').run('%s')<CR>"):format(name)
    for _, mode in ipairs(MODES[name] or { 'n' }) do
      vim.api.nvim_set_keymap(mode, keys.plug(name), run, { noremap = true })
    end
  end
end

--- Do what the rest of a <Plug> names, which is still to be read. Called by the stub.
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
    -- late: almost nobody needs it
    require('eca.ui.notify').warn(('there is no %s%s)'):format(STUB, name))
  end
end

return M
