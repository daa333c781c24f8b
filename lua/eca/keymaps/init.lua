--- The default keys, mapped in our own buffers.
---
--- Rules kept here:
--- - Each action is `<Plug>(Eca{name})`, mapped in `plugs.lua`; a key leads to that.
--- - Keys are mapped in the chat's own buffers only, and each only when the user has not mapped its
---   <Plug>, and when the option `keymaps` is not false.
--- - A key of what waits answers on its block only. Elsewhere in the transcript it goes there, and
---   does what Vim does when nothing waits: an `a` too many must not begin to type.
--- - What a key does is loaded when it is pressed: the first chat opens without it.
local actions = require('eca.keymaps.actions')
local config = require('eca.config')
local interrupt = require('eca.input.interrupt')
local keys = require('eca.ui.keys')
local plugs = require('eca.keymaps.plugs')

local M = {}

---@class eca.KeyPlace
---@field mode string
---@field keys string[]
---@field plug? fun(name: string): string? what is done when a key is pressed; nil: what Vim does

--- The key in the list of changes is ours while that is what the quickfix window shows.
---@param name string
---@return string?
local function in_changes(name)
  return require('eca.review').is_shown() and keys.plug(name) or nil
end

--- On the block that waits a key answers, elsewhere it goes there.
---@param name string
---@return string?
local function on_waiting(name)
  local approvals = require('eca.actions.approvals')
  if approvals.on_waiting_block() then
    return keys.plug(name)
  end
  return require('eca.approval').waits() and approvals.COME or nil
end

--- Where an action's keys may be.
---@param found eca.Action
---@param kind 'chat'|'input'|'changes'
---@return eca.KeyPlace[]
local function places(found, kind)
  if kind == 'changes' then
    return { { mode = 'n', keys = found.changes or {}, plug = in_changes } }
  elseif kind == 'chat' then
    return {
      { mode = 'n', keys = found.chat or {} },
      { mode = 'n', keys = found.waiting or {}, plug = on_waiting },
    }
  end
  return { { mode = 'n', keys = found.input or {} }, { mode = 'i', keys = found.insert or {} } }
end

---@param buf integer
---@param name string
---@param place eca.KeyPlace
---@param key string
local function map(buf, name, place, key)
  local desc = 'eca: ' .. actions[name].text
  if not place.plug then
    vim.keymap.set(place.mode, key, keys.plug(name), { buffer = buf, desc = desc, remap = true })
    return
  end
  vim.keymap.set(place.mode, key, function()
    return place.plug(name) or key
  end, { buffer = buf, desc = desc, expr = true })
end

--- Has the user mapped something to a <Plug>, or to any whose name begins so?
---@param buf integer
---@param mode string
---@param plug string
---@return boolean
local function is_mapped(buf, mode, plug)
  return vim.api.nvim_buf_call(buf, function()
    return vim.fn.hasmapto(plug, mode) == 1
  end)
end

--- Map the default keys in one of the chat's buffers, or in the quickfix window.
---@param buf integer
---@param kind 'chat'|'input'|'changes'
function M.attach(buf, kind)
  plugs.define()
  if not config.get().keymaps then
    return
  end
  interrupt.watch(keys.plug('Stop'), function()
    plugs.run('Stop')
  end)
  local by_user = { n = is_mapped(buf, 'n', '<Plug>(Eca'), i = is_mapped(buf, 'i', '<Plug>(Eca') }
  for name, found in pairs(actions) do
    for _, place in ipairs(places(found, kind)) do
      local mapped = by_user[place.mode] and is_mapped(buf, place.mode, keys.plug(name))
      for _, key in ipairs(mapped and {} or place.keys) do
        map(buf, name, place, key)
      end
    end
  end
end

return M
