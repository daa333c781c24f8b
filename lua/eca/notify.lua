--- One line for the user, outside the chat.
---
--- Rules kept here:
--- - What is shown is one line: breaks and control characters become spaces.
--- - The option `notify` is the least level that is shown, or false for none.
local M = {}

local LEVELS = {
  error = vim.log.levels.ERROR,
  warn = vim.log.levels.WARN,
  info = vim.log.levels.INFO,
}

--- Show a line, as soon as Neovim can.
---@param level 'error'|'warn'|'info'
---@param text string
function M.show(level, text)
  local least = require('eca.config').get().notify
  if not least or LEVELS[level] < LEVELS[least] then
    return
  end
  local line = 'eca: ' .. vim.trim(text:gsub('%c+', ' '))
  vim.schedule(function()
    vim.notify(line, LEVELS[level])
  end)
end

---@param text string
function M.error(text)
  M.show('error', text)
end

---@param text string
function M.warn(text)
  M.show('warn', text)
end

---@param text string
function M.info(text)
  M.show('info', text)
end

return M
