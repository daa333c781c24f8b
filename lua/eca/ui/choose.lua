--- Lets the user choose from a list (`vim.ui.select`), or type a line (`vim.ui.input`). A plugin
--- may show either.
local message = require('eca.ui.message')
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')

local M = {}

--- Ask for one of some items. Both <C-c> and <Esc> choose nothing. If a plugin that shows the list
--- fails, a message says so, and nothing is chosen.
---@generic T
---@param prompt string
---@param items T[]
---@param words fun(item: T): string how an item is listed
---@param on_choice fun(item: T) not called if nothing is chosen
function M.one(prompt, items, words, on_choice)
  local chosen, options = false, { prompt = prompt, format_item = words }
  local shown, fault = pcall(vim.ui.select, items, options, function(item)
    chosen = true
    if item ~= nil then
      on_choice(item)
    end
  end)
  if shown then
    return
  end
  if chosen then
    error(fault, 0)
  end
  -- On <C-c> Neovim's own list raises this error; others call back with nil.
  if not tostring(fault):find('Keyboard interrupt', 1, true) then
    notify.warn('vim.ui.select has failed, nothing was asked: ' .. others.words(tostring(fault)))
  end
end

--- Ask before something that cannot be undone.
---@param verb string
---@param prompt string
---@param go_on fun()
function M.sure(verb, prompt, go_on)
  M.one(prompt, { verb, 'Keep' }, tostring, function(choice)
    if choice == verb then
      go_on()
    end
  end)
end

--- Does Neovim's own list show the items? It has no more room than the screen.
---@return boolean
function M.is_builtin()
  return message.is_neovims(vim.ui.select)
end

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
