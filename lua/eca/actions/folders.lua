--- The folders of the workspace: adding another project, removing it, listing them.
---
--- Rules kept here: a folder is added only if the user says so; the host refuses one that is too
--- much, as the home folder.
local notify = require('eca.ui.notify')
local paths = require('eca.files.paths')
local places = require('eca.context.places')
local workspace = require('eca.host.workspace')

local M = {}

---@param path string
---@param removed boolean
local function change(path, removed)
  path = vim.fs.normalize(vim.fn.fnamemodify(path, ':p'), { expand_env = false })
  local payload = { path = path, removed = removed }
  require('eca.host').ask('change_folder', payload, function(folders)
    if folders then
      workspace.set_added(folders)
    end
  end)
end

---@param path? string default: the project of the file or of the working folder
local function add(path)
  path = path or places.other_project()
  if path then
    change(path, false)
  else
    notify.info('add which folder? this project is in the workspace')
  end
end

---@param path? string default: the last one added
local function remove(path)
  local added = workspace.added()
  path = path or added[#added]
  if path then
    change(path, true)
  else
    notify.info('no folder was added')
  end
end

--- List the folders, or add or remove one.
---@param text? string 'add' or 'remove', and a folder, blanks escaped
function M.run(text)
  local act, path = (text or ''):match('^(%l*)%s*(.*)$')
  path = path ~= '' and path:gsub('\\ ', ' ') or nil
  if not text then
    local names = vim.tbl_map(paths.short, workspace.folders())
    notify.info('the workspace: ' .. table.concat(names, ', '))
  elseif act == 'add' then
    add(path)
  elseif act == 'remove' then
    remove(path)
  else
    notify.warn("folder takes 'add' or 'remove', and a folder")
  end
end

return M
