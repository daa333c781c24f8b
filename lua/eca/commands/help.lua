--- `:Eca help`: the plugin's own pages of Neovim's help.
---
--- Rules kept here: where nobody made the tags (no plugin manager did), they are made first. What
--- there is no page for is told in one line.
local notify = require('eca.ui.notify')
local python = require('eca.host.python')

local M = {}

---@param topic string
---@return boolean found
local function show(topic)
  local found, fault = pcall(vim.cmd.help, topic)
  if not found and not tostring(fault):find('E149', 1, true) then
    notify.error(tostring(fault))
  end
  return found
end

--- Open the help, at a topic if one is given: `events`, `:Eca-diff`, `eca-option-layout`.
---@param topic? string
function M.open(topic)
  local folder = vim.fs.joinpath(python.root(), 'doc')
  if not vim.uv.fs_stat(vim.fs.joinpath(folder, 'tags')) and vim.uv.fs_access(folder, 'W') then
    vim.cmd.helptags(vim.fn.fnameescape(folder))
  end
  -- Help takes the nearest page for a word it does not know: only whole tags are asked for.
  for _, tag in ipairs(topic and { 'eca-' .. topic, ':Eca-' .. topic, topic } or { 'eca.txt' }) do
    if vim.list_contains(vim.fn.getcompletion(tag, 'help'), tag) and show(tag) then
      return
    end
  end
  notify.warn(('no help on %s; :Eca help has the contents'):format(topic or 'eca'))
end

return M
