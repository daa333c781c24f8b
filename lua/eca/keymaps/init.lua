--- Runs actions by their <Plug>s, and maps the default keys in our own buffers.
---
--- Rules kept here:
--- - Each action is `<Plug>(Eca{name})`; keys are mapped to that. One mapping is all of them: it
---   runs the action whose name follows it, which is never typed into a buffer.
--- - Keys are mapped only in our own buffers, only if the user has not mapped the <Plug>, and only
---   if the option `keymaps` is not false.
--- - A key that answers a request does so only on its block. Elsewhere in the transcript it goes to
---   the request, so that one `a` too many does not begin to type. If no request is pending it does
---   what Vim does.
--- - An action is loaded when its key is pressed: the first chat opens without it.
--- - <C-c> while Neovim is busy is an interrupt, and no mapping gets it. It runs our own action if
---   it is mapped to that in the current buffer, and nothing otherwise. Vim may report one press
---   both as an interrupt and as a key, in either order: the action runs once.
local actions = require('eca.keymaps.actions')
local config = require('eca.config')
local keys = require('eca.ui.keys')

local M = {}

--- Can the server of the current chat do something? A message says what it cannot do.
---@param ability? eca.Ability
---@return boolean
function M.is_able(ability)
  local chat = ability and require('eca.window').current_chat()
  local fault = ability and require('eca.state.abilities').fault(chat, ability)
  if fault then
    require('eca.ui.notify').warn(fault)
  end
  return not fault
end

--- Run an action. Called by the <Plug>s, and by `:Eca`.
---@param name string
---@param argument? string|integer of its subcommand
---@param bang? boolean
function M.run(name, argument, bang)
  local found = actions[name]
  require('eca.view') -- joins the host with what draws
  if M.is_able(found.needs) then
    local with, count = vim.list_slice(found.with), #found.with
    with[count + 1], with[count + 2] = argument, bang
    require('eca.actions.' .. found.at)[found.call](unpack(with, 1, count + 2))
  end
end

--- Read the rest of a <Plug>'s name, and run its action. Called by the mapping of `<Plug>(Eca`.
function M.plug()
  local name = ''
  repeat
    local key = vim.fn.getcharstr()
    name = name .. key
  until key == ')' or not key:find('%a')
  name = name:sub(1, -2)
  if actions[name] then
    M.run(name)
  else
    require('eca.ui.notify').warn(('unknown action <Plug>(Eca%s)'):format(name))
  end
end

--- What the keys of a pending block do elsewhere in the transcript.
local GO_TO_REQUEST = "<Cmd>lua require('eca.actions.approvals').go_to_request()<CR>"

local namespace = vim.api.nvim_create_namespace('eca.keymaps.interrupt')

local INTERRUPT = '\3'

--- Milliseconds in which two reports are one press.
local SAME_PRESS = 30

--- Watch for a <C-c> that Neovim has taken for an interrupt. Calling it again replaces the watch
--- before.
local function watch_interrupt()
  local mapped_at, waiting = -math.huge, nil
  vim.on_key(function(key, typed)
    local now = vim.uv.hrtime() / 1e6
    local is_missed = key == INTERRUPT
      and vim.api.nvim_get_mode().mode == 'n'
      and vim.fn.maparg('<C-c>', 'n') == keys.plug('Stop')
    if is_missed and now - mapped_at > SAME_PRESS then
      local press = {}
      waiting = press
      vim.defer_fn(function()
        if waiting == press then
          waiting = nil
          M.run('Stop')
        end
      end, SAME_PRESS)
    elseif typed == INTERRUPT and key ~= INTERRUPT then
      mapped_at, waiting = now, nil
    end
  end, namespace)
end

--- What a key of a pending block runs: on the block it answers, elsewhere it goes to the request.
---@param name string
---@param key string
---@return string keys
function M.on_pending(name, key)
  if require('eca.actions.blocks').pending_here('approval') then
    return keys.plug(name)
  end
  return require('eca.approval').has_pending() and GO_TO_REQUEST or key
end

--- What a key runs in the quickfix window, which may show another list.
---@param name string
---@param key string
---@return string keys
function M.in_changes(name, key)
  return require('eca.review').is_shown() and keys.plug(name) or key
end

--- What a key of a preview runs: in a diff, such as that of the preview, it keeps Vim's meaning.
---@param name string
---@param key string
---@return string keys
function M.in_preview(name, key)
  return vim.wo.diff and key or keys.plug(name)
end

--- Where keys are mapped, by kind of buffer: the mode, the field of an action with its keys, and
--- the function that says what they run if that is not always the action.
---@type table<string, [string, string, string?][]>
local PLACES = {
  chat = { { 'n', 'chat' }, { 'n', 'pending', 'on_pending' } },
  input = { { 'n', 'input' }, { 'i', 'insert' } },
  changes = { { 'n', 'changes', 'in_changes' } },
  panel = { { 'n', 'panel' } },
  preview = { { 'n', 'preview', 'in_preview' } },
  answer = { { 'n', 'preview' }, { 'n', 'answer' } },
}

--- Has the user mapped something to a <Plug>, or to any that begins like it?
---@param buf integer
---@param mode string
---@param plug string
---@return boolean
local function is_mapped(buf, mode, plug)
  return vim.api.nvim_buf_call(buf, function()
    return vim.fn.hasmapto(plug, mode) == 1
  end)
end

--- Has the user mapped a key?
---@param buf integer
---@param mode string
---@param key string
---@return boolean
local function is_taken(buf, mode, key)
  return vim.api.nvim_buf_call(buf, function()
    return vim.fn.maparg(key, mode) ~= ''
  end)
end

--- Map the default keys in one of our buffers, or in the quickfix window.
---@param buf integer
---@param kind eca.BufferKind
function M.attach(buf, kind)
  local options = config.get()
  local in_code = kind == 'preview' -- the user's own buffer, with their own keys
  if not options.keymaps or in_code and not options.previews.keymaps then
    return
  end
  watch_interrupt()
  local by_user = { n = is_mapped(buf, 'n', '<Plug>(Eca'), i = is_mapped(buf, 'i', '<Plug>(Eca') }
  for name, found in pairs(actions) do
    for _, place in ipairs(PLACES[kind]) do
      local mode, field, call = unpack(place)
      local mapped = by_user[mode] and is_mapped(buf, mode, keys.plug(name))
      for _, key in ipairs(mapped and {} or found[field]) do
        if not in_code or not is_taken(buf, mode, key) then
          local runs = call and ("v:lua.require'eca.keymaps'.%s('%s','%s')"):format(call, name, key)
          local with = { buffer = buf, desc = 'eca: ' .. found.text }
          with.expr, with.remap = call ~= nil, call == nil
          vim.keymap.set(mode, key, runs or keys.plug(name), with)
        end
      end
    end
  end
end

return M
