--- `:Eca help`: the plugin's own pages of Neovim's help.
---
--- Rules kept here: help tags are generated first if no plugin manager did so. A message of one
--- line says if there is no page.
local notify = require('eca.ui.notify')
local python = require('eca.host.python')

local M = {}

---@param topic string
---@return boolean found
local function show(topic)
  local found, fault = pcall(vim.cmd.help, topic)
  if found then
    require('eca.window.to_code').uncover()
  elseif not tostring(fault):find('E149', 1, true) then
    notify.error(tostring(fault))
  end
  return found
end

--- Generate the help tags, unless a plugin manager did so.
local function make_tags()
  local folder = vim.fs.joinpath(python.root(), 'doc')
  if not vim.uv.fs_stat(vim.fs.joinpath(folder, 'tags')) and vim.uv.fs_access(folder, 'W') then
    vim.cmd.helptags(vim.fn.fnameescape(folder))
  end
end

--- All topics of the help.
---@return string[]
function M.topics()
  make_tags()
  local topics = {} ---@type table<string, true>
  for _, prefix in ipairs({ 'eca-', ':Eca-' }) do
    for _, tag in ipairs(vim.fn.getcompletion(prefix, 'help')) do
      if vim.startswith(tag, prefix) then
        topics[tag:sub(#prefix + 1)] = true
      end
    end
  end
  return vim.tbl_keys(topics)
end

--- Open the help, at a topic if one is given: `events`, `:Eca-diff`, `eca-option-layout`.
---@param topic? string
function M.open(topic)
  make_tags()
  -- `:help` opens the nearest page for an unknown word, so only existing tags are asked for.
  for _, tag in ipairs(topic and { 'eca-' .. topic, ':Eca-' .. topic, topic } or { 'eca.txt' }) do
    if vim.list_contains(vim.fn.getcompletion(tag, 'help'), tag) and show(tag) then
      return
    end
  end
  notify.warn(('no help on %s; :Eca help shows the contents'):format(topic or 'eca'))
end

return M
