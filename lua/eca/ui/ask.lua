--- Asks for a line of text (`vim.ui.input`), which a plugin may show.
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')

local M = {}

--- Ask. If the plugin fails, a message says so, and there is no answer.
---@param options { prompt: string, default?: string, completion?: string }
---@param on_answer fun(text?: string)
function M.line(options, on_answer)
  local answered = false
  local shown, fault = pcall(vim.ui.input, options, function(text)
    answered = true
    on_answer(text)
  end)
  if shown then
    return
  elseif answered then
    error(fault, 0)
  end
  notify.warn('vim.ui.input has failed, nothing was asked: ' .. others.words(tostring(fault)))
  on_answer(nil)
end

return M
