--- Shows messages of one line, outside the chat.
---
--- Rules kept here:
--- - A message is one line without control characters.
--- - A message never makes Neovim wait for a key: if it is too long its middle is cut, and each
---   replaces the one before. `:messages` lists them all; the log has them uncut. While Neovim
---   exits none is shown: for an error it would wait, and the user has left.
--- - A routine message does not replace a warning that the user has not read: it waits for a key.
--- - While the user types a command, answers a dialog, selects or inserts text, messages are held
---   back, because they could not be read.
--- - This file reads no options, because the options themselves report errors by it.
local display_width = require('eca.ui.display_width')
local sanitize = require('eca.ui.sanitize')
local scan = require('eca.text.scan')

local M = {}

--- Is a function Neovim's own? Then its source is in the program or its runtime, or unknown.
---@param candidate fun(...: any)
---@return boolean
function M.is_neovims(candidate)
  local source = debug.getinfo(candidate, 'S').source
  local runtime = ('@%s/'):format(vim.env.VIMRUNTIME)
  return source:sub(-1) == '?' or vim.startswith(source, '@vim/') or vim.startswith(source, runtime)
end

local LEVELS = {
  error = vim.log.levels.ERROR,
  warn = vim.log.levels.WARN,
  info = vim.log.levels.INFO,
}

--- Bytes of a message that are shown at most.
local LONGEST = 10000

--- Milliseconds after which a key shows that the user has read a warning.
M.READING = 1000

local namespace = vim.api.nvim_create_namespace('eca.ui.message')

local unread ---@type integer? ns, when the warning on the screen was shown

local held = {} ---@type [string, integer][] lines and their levels

--- Does Neovim's own `vim.notify` show messages?
---@return boolean
local function is_builtin()
  return M.is_neovims(vim.notify)
end

--- Show a line. Not as an error of Neovim: that would end a macro, forget keys that a mapping has
--- still to type, and begin below what is in the line.
---@param line string
---@param level integer
local function show(line, level)
  local group = level >= LEVELS.error and 'ErrorMsg' or level >= LEVELS.warn and 'WarningMsg'
  vim.v.errmsg = group == 'ErrorMsg' and line or vim.v.errmsg
  vim.api.nvim_echo({ { line, group or nil } }, true, {})
end

local flush ---@type fun()

--- A warning is on the screen now, until the user has read it.
local function wait_for_reader()
  unread = vim.uv.hrtime()
  vim.on_key(function(_, typed)
    if typed ~= '' and (vim.uv.hrtime() - unread) / 1e6 >= M.READING then
      unread = nil
      vim.on_key(nil, namespace)
      vim.schedule(flush)
    end
  end, namespace)
end

---@param line string
---@param level integer
local function notify(line, level)
  if not is_builtin() and pcall(vim.notify, line, level) then
    return
  end
  local room = vim.v.echospace
  if vim.api.nvim_strwidth(line) > room then -- what went wrong and the remedy stay
    local half = math.ceil(room / 2)
    line = display_width.head(line, room - half - 1) .. '…' .. display_width.tail(line, half)
  end
  vim.cmd.redraw()
  show(line, level)
  if level >= LEVELS.warn and #vim.api.nvim_list_uis() > 0 then
    wait_for_reader()
  end
end

--- Would Neovim hide a message at once, or block because of it? In command-line and visual mode it
--- blocks for three seconds, so that the message can be read before the name of the mode replaces
--- it. In insert mode the name replaces it at once. In a dialog the message would replace the
--- question.
---@return boolean
local function is_bad_moment()
  local mode = vim.api.nvim_get_mode().mode
  return mode:find('^[crvVsS\22\19]') ~= nil
    or (mode:find('^[iR]') ~= nil and vim.o.showmode and is_builtin())
end

--- Show all held messages, as soon as they can be read.
flush = function()
  if vim.v.exiting ~= vim.NIL then
    return
  end
  if is_bad_moment() then
    vim.api.nvim_create_autocmd({ 'CmdlineLeave', 'ModeChanged' }, {
      group = vim.api.nvim_create_augroup('eca.ui.message', {}),
      once = true,
      callback = vim.schedule_wrap(flush),
    })
    return
  end
  local lines = held
  held = {}
  for _, line in ipairs(lines) do
    if unread and line[2] < LEVELS.warn and is_builtin() then
      held[#held + 1] = line
    else
      notify(line[1], line[2])
    end
  end
end

---@alias eca.MessageLevel 'error'|'warn'|'info'

--- Show a message as soon as it can be read.
---@param level eca.MessageLevel
---@param text string
---@param least eca.MessageLevel|false the lowest level that is shown; false: none is
function M.show(level, text, least)
  if not least or LEVELS[level] < LEVELS[least] then
    return
  end
  local line = sanitize.line(text:sub(1, LONGEST))
  held[#held + 1] = { 'eca: ' .. scan.trim(line), LEVELS[level] }
  vim.schedule(flush)
end

return M
