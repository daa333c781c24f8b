--- The functions that the host can call in this Neovim; each call has a number for its answer.
---
--- Rules kept here:
--- - Every call is answered with the intent `returned`, even if it fails; `watch` answers
---   repeatedly.
--- - No function changes what the user sees, but `write`, which changes files for an agent.
local paths = require('eca.files.paths')

local M = {}

--- Milliseconds without a change after which changed diagnostics are sent.
local QUIET_MS = 500

---@alias eca.Done fun(value: any)

---@param path? string
---@return eca.Diagnostic[]
local function diagnostics(path)
  return require('eca.editor.lookups').diagnostics(path, require('eca.host').folders())
end

---@class eca.FileDiagnostics
---@field path string
---@field items eca.Diagnostic[]

--- All diagnostics of the workspace by file.
---@return eca.FileDiagnostics[]
local function by_file()
  local files, places = {}, {} ---@type eca.FileDiagnostics[], table<string, integer>
  for _, found in ipairs(diagnostics()) do
    if not places[found.path] then
      files[#files + 1] = { path = found.path, items = {} }
      places[found.path] = #files
    end
    table.insert(files[places[found.path]].items, found)
  end
  return files
end

local timer = assert(vim.uv.new_timer()) -- one for all hosts

--- Send the diagnostics of every file now, and later those of changed files after a pause.
---@param done eca.Done
local function watch(done)
  timer:stop()
  local changed = {} ---@type table<string, true>
  local send = vim.schedule_wrap(function()
    local files = {} ---@type eca.FileDiagnostics[]
    for path in pairs(changed) do
      files[#files + 1] = { path = path, items = diagnostics(path) }
    end
    changed = {}
    done(files)
  end)
  vim.api.nvim_create_autocmd('DiagnosticChanged', {
    group = vim.api.nvim_create_augroup('eca.watch', {}),
    callback = function(event)
      local path = paths.of_buffer(event.buf)
      if path and paths.inside(path, require('eca.host').folders()) then
        changed[path] = true
        timer:start(QUIET_MS, 0, send)
      end
    end,
  })
  done(by_file())
end

---@type table<string, fun(args: table<string, any>, done: eca.Done)>
local functions = {
  diagnostics = function(args, done)
    done(diagnostics(args.path))
  end,
  locations = function(args, done)
    require('eca.editor.lookups').locations(args.kind, args.path, args.line, args.column, done)
  end,
  open_buffers = function(_, done)
    done(require('eca.editor.lookups').open_buffers())
  end,
  unsaved = function(args, done)
    done(require('eca.editor.agent_files').unsaved(args.paths))
  end,
  write = function(args, done)
    done(require('eca.editor.agent_files').write(args))
  end,
  watch = function(_, done)
    watch(done)
  end,
}

--- Run one of the functions. Called by the host.
---@param number integer
---@param name string
---@param args table<string, any>
function M.call(number, name, args)
  local host = require('eca.host')
  host.alive()
  local worked, message = pcall(functions[name], args, function(value)
    host.send('returned', { call = number, ok = true, value = value })
  end)
  if not worked then
    host.send('returned', { call = number, ok = false, value = tostring(message) })
  end
end

return M
