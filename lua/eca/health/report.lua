--- `:Eca report`: what a bug report needs, in a buffer: nothing is written or sent but by the user.
---
--- Rules kept here:
--- - Messages from and to servers, which have the texts of chats, are left out: they are in the log
---   with the level DEBUG.
--- - Values of environments and headers, and what follows a program, are left out. In all the rest
---   what looks like a key is hidden (`secrets`).
--- - The user's home folder is `~`.
local checkout = require('eca.health.checkout')
local config = require('eca.config')
local health = require('eca.health')
local log = require('eca.host.log')
local output = require('eca.chat.output')
local python = require('eca.host.python')
local secrets = require('eca.health.secrets')

local M = {}

--- Lines of the log that are shown.
local LOGGED = 60
local HIDDEN = secrets.HIDDEN
--- Options whose values may be secrets, at any depth.
local SECRET = { env = true, headers = true }

--- An option without what may be a secret.
---@param name string|integer
---@param value any
---@param is_secret? boolean
---@return any
local function shown(name, value, is_secret)
  is_secret = is_secret or SECRET[name]
  if name == 'command' and type(value) == 'table' then
    return { value[1], #value > 1 and ('… %d more'):format(#value - 1) or nil }
  elseif is_secret and type(value) ~= 'table' then
    return HIDDEN
  elseif type(value) == 'string' then -- an address may have a key
    return (value:gsub('%?.*', '?' .. HIDDEN):gsub('//[^/@]*@', '//' .. HIDDEN .. '@'))
  elseif type(value) ~= 'table' then
    return type(value) == 'function' and 'a function' or value
  end
  local table_shown = {} ---@type table<string|integer, any>
  for key, each in pairs(value) do
    table_shown[key] = shown(key, each, is_secret)
  end
  return table_shown
end

--- A report that collects lines.
---@param lines string[]
---@return eca.HealthReport
local function collector(lines)
  local function add(sign)
    return function(text, advice)
      lines[#lines + 1] = ('- %s%s'):format(sign, text)
      for _, line in ipairs(type(advice) == 'table' and advice or { advice }) do
        lines[#lines + 1] = '  - ' .. line
      end
    end
  end
  local function start(title)
    vim.list_extend(lines, { '', '### ' .. title, '' })
  end
  return {
    start = start,
    ok = add(''),
    info = add(''),
    warn = add('WARNING '),
    error = add('ERROR '),
  }
end

---@return string[]
local function system()
  local machine = vim.uv.os_uname()
  local uis = vim.tbl_map(function(ui)
    return ('%dx%d'):format(ui.width, ui.height)
  end, vim.api.nvim_list_uis())
  return {
    '- plugin: ' .. checkout.name(python.ROOT),
    ('- Neovim %s; %s'):format(tostring(vim.version()), jit and jit.version or _VERSION),
    ('- %s %s %s'):format(machine.sysname, machine.release, machine.machine),
    ('- terminal: %s, %s'):format(vim.env.TERM or 'none', table.concat(uis, ', ')),
  }
end

--- The last lines of the log without records of the level DEBUG.
---@return string[]
---@return boolean is_part were there such records?
local function logged()
  if not vim.uv.fs_access(log.path(), 'R') then
    return { 'there is no log' }, false
  end
  local kept, is_part, is_left_out = {}, false, false ---@type string[], boolean, boolean
  for _, line in ipairs(vim.fn.readfile(log.path())) do
    if not vim.startswith(line, ' ') then -- else it goes on with a record (`eca_nvim/nvim/logs.py`)
      is_left_out = line:find('^%S+ %S+ DEBUG ') ~= nil
      is_part = is_part or is_left_out
    end
    kept[#kept + 1] = not is_left_out and line or nil
  end
  return vim.list_slice(kept, math.max(1, #kept - LOGGED + 1)), is_part
end

--- Text in a block of Markdown that it cannot end.
---@param lines string[]
---@param text string[]
---@param language string
local function fenced(lines, text, language)
  lines[#lines + 1] = '~~~~~~~~ ' .. language
  for _, line in ipairs(text) do
    lines[#lines + 1] = vim.startswith(line, '~~~') and ' ' .. line or line
  end
  lines[#lines + 1] = '~~~~~~~~'
end

--- Without the user's home folder, and without what looks like a secret.
---@param lines string[]
---@return string[]
local function cleaned(lines)
  local home = vim.pesc(vim.uv.os_homedir() .. '/')
  local flat = vim.tbl_map(function(line)
    return (line:gsub('\n', ' '):gsub(home, '~/'))
  end, lines)
  return vim.split(secrets.hide(table.concat(flat, '\n')), '\n', { plain = true })
end

--- Show the report.
function M.show()
  local lines =
    { '# What happened', '', '', '# What should have happened', '', '', '# Versions', '' }
  vim.list_extend(lines, system())
  vim.list_extend(lines, { '', '# Options', '' })
  local options = vim.inspect(shown('', config.of_user()))
  fenced(lines, vim.split(options, '\n', { plain = true }), 'lua')
  vim.list_extend(lines, { '', '# Health' })
  health.check(collector(lines))
  vim.list_extend(lines, { '', '# The end of the log', '' })
  local records, is_part = logged()
  if is_part then
    vim.list_extend(
      lines,
      { 'Records of the level DEBUG are left out: they have texts of chats.', '' }
    )
  end
  fenced(lines, records, 'text')
  output.show_markdown(cleaned(lines))
  require('eca.ui.notify').info('read it and tell what happened; :w FILE writes it')
end

return M
