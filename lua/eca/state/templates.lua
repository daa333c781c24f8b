--- Which templates there are, as the host read them last, and where they are looked for.
---
--- Rules kept here: before the host has read them, the names of their files stand for them.
local config = require('eca.config')

local M = {}

---@class eca.Template
---@field name string
---@field description string
---@field source 'yours'|'project'|'built in'
---@field variables string[] those with a value from the editor

local known ---@type eca.Template[]?

--- Called with the op `templates`.
---@param templates eca.Template[]
function M.set(templates)
  known = templates
end

--- All templates, sorted by name.
---@return eca.Template[]
function M.all()
  return known or {}
end

--- The folders as the host wants them: an absolute one, and one in each folder of the workspace;
--- false for none.
---@return { user: string|false, project: string|false }
function M.folders()
  local options = config.get().templates
  local user = options.user
  if user == nil or user == true then
    user = vim.fs.joinpath(vim.fn.stdpath('config') --[[@as string]], 'eca', 'templates')
  end
  return { user = user and vim.fs.normalize(user), project = options.project }
end

---@param folder string
---@return string[]
local function names_in(folder)
  return vim
    .iter(vim.fs.dir(folder))
    :map(function(file)
      return file:match('^(.+)%.md$')
    end)
    :totable()
end

--- The names of all templates, for completion.
---@return string[]
function M.names()
  if known then
    return vim.tbl_map(function(template)
      return template.name
    end, known)
  end
  local own = 'rplugin/python3/eca_nvim/session/templates/builtin'
  local places = vim.api.nvim_get_runtime_file(own, false)
  local folders = M.folders()
  places[#places + 1] = folders.user or nil
  for _, root in ipairs(folders.project and require('eca.host.workspace').first() or {}) do
    places[#places + 1] = vim.fs.joinpath(root, folders.project)
  end
  local names = vim.iter(places):map(names_in):flatten():totable()
  table.sort(names)
  return vim.fn.uniq(names) --[[@as string[] ]]
end

return M
