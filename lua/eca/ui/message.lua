--- One line for the user, outside the chat.
---
--- Rules kept here:
--- - What is shown is one line, and harmless.
--- - It never makes Neovim wait for a key: one that is too long for its place loses its middle, and
---   each takes the place of the one before. `:messages` has them all; the log has them whole.
--- - While the user types a command, answers a dialog, selects or inserts text it waits: nobody
---   could read it.
--- - It reads no options, for these have something to tell, too.
local builtin = require('eca.ui.builtin')
local sanitize = require('eca.ui.sanitize')
local scan = require('eca.text.scan')

local M = {}

local LEVELS = {
  error = vim.log.levels.ERROR,
  warn = vim.log.levels.WARN,
  info = vim.log.levels.INFO,
}

--- Bytes of a message that are shown, at most.
local LONGEST = 10000

local waiting = {} ---@type [string, integer][] lines and their levels

--- The beginning of a list of characters that fits.
---@param characters string[]
---@param cells integer
---@return string[]
local function beginning(characters, cells)
  local kept = {} ---@type string[]
  for _, character in ipairs(characters) do
    cells = cells - vim.fn.strdisplaywidth(character)
    if cells < 0 then
      break
    end
    kept[#kept + 1] = character
  end
  return kept
end

--- Cut out the middle of a line that is too long; what went wrong and the remedy stay.
---@param line string
---@param room integer cells
---@return string
local function fitted(line, room)
  if vim.fn.strdisplaywidth(line) <= room then
    return line
  end
  local characters = vim.fn.split(line, '\\zs')
  local first = beginning(characters, math.floor(room / 2) - 1)
  local last = beginning(vim.fn.reverse(characters), math.ceil(room / 2))
  return table.concat(first) .. '…' .. table.concat(vim.fn.reverse(last))
end

--- Does Neovim itself show what is told?
---@return boolean
local function is_plain()
  return builtin.is(vim.notify)
end

---@param line string
---@param level integer
local function tell(line, level)
  if not is_plain() then
    vim.notify(line, level)
    return
  end
  vim.cmd.redraw()
  vim.notify(fitted(line, vim.v.echospace), level)
end

--- Would Neovim hide a line at once, or make the user wait for it? While he types a command or
--- selects it stops for three seconds, so that the line can be read before the mode's name takes
--- its place; while he inserts the mode's name takes it before anybody could. A line would take the
--- place of what a dialog asks.
---@return boolean
local function is_bad_moment()
  local mode = vim.api.nvim_get_mode().mode
  return mode:find('^[crvVsS\22\19]') ~= nil
    or (mode:find('^[iR]') ~= nil and vim.o.showmode and is_plain())
end

--- Tell what waits, as soon as it can be read.
local function tell_all()
  if is_bad_moment() then
    vim.api.nvim_create_autocmd({ 'CmdlineLeave', 'ModeChanged' }, {
      group = vim.api.nvim_create_augroup('eca.ui.message', {}),
      once = true,
      callback = vim.schedule_wrap(tell_all),
    })
    return
  end
  local lines = waiting
  waiting = {}
  for _, line in ipairs(lines) do
    tell(line[1], line[2])
  end
end

---@alias eca.MessageLevel 'error'|'warn'|'info'

--- Show a line, as soon as Neovim can.
---@param level eca.MessageLevel
---@param text string
---@param least eca.MessageLevel|false the least level that is shown; false: none is
function M.show(level, text, least)
  if not least or LEVELS[level] < LEVELS[least] then
    return
  end
  local line = sanitize.line(text:sub(1, LONGEST))
  waiting[#waiting + 1] = { 'eca: ' .. scan.trim(line), LEVELS[level] }
  vim.schedule(tell_all)
end

return M
