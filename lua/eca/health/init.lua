--- `:checkhealth eca`: checks everything the plugin needs, with a remedy for each fault.
local config = require('eca.config')
local log = require('eca.host.log')
local options = require('eca.config.options')
local python = require('eca.host.python')
local scan = require('eca.text.scan')
local servers = require('eca.health.servers')
local winbar = require('eca.window.winbar')

local M = {}

local health = vim.health

local function check_neovim()
  health.start('Neovim')
  local version = tostring(vim.version())
  if vim.fn.has('nvim-0.10') == 1 then
    health.ok('Neovim ' .. version)
  else
    health.error('Neovim ' .. version .. ' is too old', 'install 0.10 or newer')
  end
end

---@param command string[]
---@return boolean ok, string output
local function run(command)
  local started, process = pcall(vim.system, command, { text = true, timeout = 10000 })
  if not started then
    return false, tostring(process)
  end
  local result = process:wait()
  return result.code == 0, scan.trim(result.code == 0 and result.stdout or result.stderr)
end

local MODULES = 'import sys; assert sys.version_info >= (3, 11), '
  .. '"this is Python %d.%d, but 3.11 or newer is required" % sys.version_info[:2]; '
  .. 'import pynvim, anyio, msgpack, msgspec, unidiff; print(sys.version.split()[0])'

local function check_python()
  health.start('Python host')
  local path, remedy = python.find()
  if not path then
    health.error(remedy)
    return
  end
  local works, output = run({ path, '-I', '-c', MODULES })
  if works then
    health.ok(('Python %s with all modules: %s'):format(output, path))
    return
  end
  local last = vim.split(output, '\n')
  health.error(path .. ': ' .. last[#last], remedy)
end

--- What is wrong with the options.
---@return string[]
local function complaints_about_options()
  local complaints = {} ---@type string[]
  local given = vim.g.eca
  options.check(type(given) == 'function' and given() or given or {}, complaints)
  return complaints
end

---@param complaints string[]
local function check_options(complaints)
  health.start('Options')
  for _, complaint in ipairs(complaints) do
    health.warn(complaint)
  end
  if #complaints == 0 then
    health.ok('vim.g.eca is valid')
  end
end

local DISABLE_WINBAR = 'disable its winbar there; with lualine: disabled_filetypes = { winbar = '
  .. "{ 'eca-chat', 'eca-input' } }"

--- The winbars of the chat's windows show trust, pending requests and contexts.
local function check_winbars()
  health.start('Winbars')
  local foreign = vim.tbl_filter(winbar.is_foreign, vim.api.nvim_list_wins())
  if #foreign > 0 then
    health.warn('another plugin draws the winbars of the chat', DISABLE_WINBAR)
  else
    health.ok('no other plugin draws the winbars of the chat')
  end
end

--- Who opens the menu in the input.
local function check_completion()
  health.start('Completion')
  local plugin = require('eca.completion.place').driver(vim.api.nvim_get_current_buf())
  local setting = config.get().completion
  if not setting then
    health.info("off: the option 'completion' is false")
  elseif plugin then
    health.ok(plugin .. ' opens the menu in the input, and asks the language client eca')
  elseif type(setting) == 'table' and not setting.auto then
    health.info("no menu opens by itself: the option 'completion.auto' is false")
  else
    health.ok("Vim's own menu opens in the input")
  end
end

--- Run by `:checkhealth eca`.
function M.check()
  local probed, complaints = servers.start(), complaints_about_options()
  check_neovim()
  check_python()
  servers.report(probed, complaints)
  check_options(complaints)
  check_winbars()
  check_completion()
  health.start('Log')
  health.info(log.path())
end

return M
