--- Completion in the inputs: contexts after `@`, paths after `#`, commands after a first `/`.
---
--- Rules kept here:
--- - It is loaded when the user first enters an input, and does nothing in other buffers.
--- - A key never waits: what is known is shown at once, and more when the host has answered.
--- - Only one menu opens: ours, or that of a plugin that asks our language client.
local answers = require('eca.completion.answers')
local arguments = require('eca.completion.arguments')
local client = require('eca.completion.client')
local comfort = require('eca.host.comfort')
local config = require('eca.config')
local editor_items = require('eca.completion.editor_items')
local menu = require('eca.completion.menu')
local places = require('eca.completion.place')
local sizes = require('eca.context.sizes')

local M = {}

local NO_COMPLETION = 'completion fails'
local NO_CLIENT = 'no completion in other plugins'

--- Milliseconds between two halves of the work, in which Neovim handles keys.
local PAUSE_MS = 10

local token ---@type string? the token that the user is typing: its chat and where it begins

--- Does our menu open by itself in a buffer?
---@param buf integer
---@return boolean
local function is_automatic(buf)
  local options = config.get().completion
  local auto = type(options) ~= 'table' or options.auto
  return auto and not places.driver(buf)
end

--- The place at the cursor, if the user is typing in an input.
---@return eca.CompletionPlace?
local function place_typed()
  return vim.api.nvim_get_mode().mode:find('^i') and places.at_cursor() or nil
end

--- Show what completes a place, as far as it is known, and ask for more.
---@param place eca.CompletionPlace
local function offer(place)
  if is_automatic(vim.api.nvim_get_current_buf()) and menu.show(place) then
    answers.ask(place)
  end
end

--- Called when the text before the cursor has changed. In another token, the host is asked again
--- about what it was asked before.
local function update()
  local place = places.at_cursor()
  local now = place and ('%s %d %d'):format(place.chat, place.row, place.start)
  if now ~= token then
    token = now
    answers.forget_asked()
  end
  if place then
    offer(place)
  else
    menu.nothing()
  end
end

--- Set up completion in an input.
---@param buf integer
function M.attach(buf)
  if not config.get().completion or not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  ---@type table<string, fun()>
  local callbacks = {
    TextChangedI = update,
    TextChangedP = update,
    InsertEnter = function()
      comfort.try(NO_CLIENT, client.attach, buf) -- it may have been stopped
    end,
    InsertLeave = menu.left,
    BufLeave = menu.left, -- a click in another window does not end insert mode
    BufUnload = function()
      if vim.v.exiting == vim.NIL then -- else Neovim ends all clients
        comfort.try(NO_CLIENT, client.detach, buf)
      end
    end,
    CompleteDone = function()
      local item = menu.done(places.at_cursor())
      vim.schedule(function() -- if the cursor is still there: any key ends the menu
        local place = item and item.arguments and place_typed()
        if place and place.trigger == '/' and place.query == item.text then
          arguments.ask_in_input(item)
        end
      end)
    end,
  }
  for event, callback in pairs(callbacks) do
    vim.api.nvim_create_autocmd(event, {
      buffer = buf,
      callback = function()
        -- without the event, and what it returns does not remove the autocommand
        pcall(comfort.try, NO_COMPLETION, callback)
      end,
    })
  end
  -- While Neovim's own `autocomplete` (0.12) looks for words, no other menu can open.
  if vim.fn.exists('+autocomplete') == 1 and is_automatic(buf) then
    vim.bo[buf].autocomplete = false
  end
  -- Neovim cannot load its own part of the client where its log has no folder.
  if comfort.try(NO_CLIENT, client.load) then
    vim.defer_fn(function()
      if vim.api.nvim_buf_is_loaded(buf) then
        comfort.try(NO_CLIENT, client.attach, buf)
      end
    end, PAUSE_MS)
  end
end

--- Show more of what completes the text before the cursor, if the user is typing in an input.
local function refresh()
  local place = place_typed()
  if place then
    offer(place)
  end
end

--- Called with an answer of the host (op `completions`).
---@param chat string
---@param trigger eca.CompletionTrigger
---@param query string
---@param items eca.CompletionItem[]
---@param final boolean
function M.received(chat, trigger, query, items, final)
  answers.received(chat, trigger, query, items, final)
  refresh()
end

answers.listen(function(place, items)
  M.received(place.chat, place.trigger, place.query, items, true)
end)

sizes.listen(function()
  editor_items.forget()
  comfort.try(NO_COMPLETION, refresh)
end)

--- Called when a server has started or ended: it may complete more.
function M.server_changed()
  answers.forget_asked()
  refresh()
end

return M
