--- Lets the user choose from a list (`vim.ui.select`), or type a line (`vim.ui.input`). A plugin
--- may show either.
local message = require('eca.ui.message')
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')

local M = {}

--- Ask by a function of `vim.ui`. If the plugin that shows it fails, a message says so.
---@param name string for the message
---@param show function that function
---@param on_answer fun(answer: any)
---@param ... any its arguments before the callback
---@return boolean asked
local function ask(name, show, on_answer, ...)
  local answered, arguments = false, { ... }
  arguments[#arguments + 1] = function(answer)
    answered = true
    on_answer(answer)
  end
  local asked, fault = pcall(show, unpack(arguments))
  if asked then
    return true
  elseif answered then
    error(fault, 0)
  end
  local words = tostring(fault)
  -- On <C-c> Neovim's own list raises this error; others call back with nil.
  if not words:find('Keyboard interrupt', 1, true) then
    words = others.words(words)
    notify.warn(('vim.ui.%s has failed, nothing was asked: %s'):format(name, words))
  end
  return false
end

--- Ask for one of some items. Both <C-c> and <Esc> choose nothing.
---@generic T
---@param prompt string
---@param items T[]
---@param words fun(item: T): string how an item is listed
---@param on_choice fun(item: T) not called if nothing is chosen
function M.one(prompt, items, words, on_choice)
  ask('select', vim.ui.select, function(item)
    if item ~= nil then
      on_choice(item)
    end
  end, items, { prompt = prompt, format_item = words })
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

--- Ask for a line. If the plugin fails, there is no answer.
---@param options { prompt: string, default?: string, completion?: string }
---@param on_answer fun(text?: string)
function M.line(options, on_answer)
  if not ask('input', vim.ui.input, on_answer, options) then
    on_answer(nil)
  end
end

return M
