--- Shows messages of one line, as the option `notify` says.
local config = require('eca.config')
local message = require('eca.ui.message')

local M = {}

---@param level eca.MessageLevel
---@param text string
function M.show(level, text)
  message.show(level, text, config.get().notify)
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
