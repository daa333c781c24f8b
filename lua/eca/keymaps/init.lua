--- The actions of the user: one table of names, what they do, and their keys in our own buffers.
---
--- Rules kept here:
--- - Each action is `<Plug>(Eca{name})`, mapped in `plugs.lua`.
--- - Keys are mapped in the chat's own buffers only, and each only when the user has not mapped its
---   <Plug>, and when the option `keymaps` is not false.
--- - A key of what waits answers on its block only. Elsewhere in the transcript it goes there, and
---   does what Vim does when nothing waits: an `a` too many must not begin to type.
local M = {}

---@class eca.Action
---@field text string for the list of keys
---@field at string module `eca.actions.…`
---@field call string function of that module
---@field chat? string[] keys in the transcript, normal mode
---@field input? string[] keys in the input, normal mode
---@field insert? string[] keys in the input, insert mode
---@field changes? string[] keys in the list of changes
---@field waiting? string[] keys in the transcript on a block that waits for approval

---@param at string
---@param call string
---@param text string
---@param keys? table
---@return eca.Action
local function action(at, call, text, keys)
  return vim.tbl_extend('error', { at = at, call = call, text = text }, keys or {})
end

local QUEUE_KEY, STOP_KEY = '<M-CR>', '<C-c>'

---@type table<string, eca.Action>
M.actions = {
  Submit = action('prompts', 'submit', 'send the prompt', {
    input = { '<CR>', '<C-s>' },
    insert = { '<C-s>' },
    chat = { '<C-s>' },
  }),
  Queue = action('prompts', 'queue', 'send it after the running turn', {
    input = { QUEUE_KEY },
    insert = { QUEUE_KEY },
  }),
  Unqueue = action('prompts', 'unqueue', 'take the last waiting prompt back to edit it', {
    input = { '<M-BS>' },
    insert = { '<M-BS>' },
  }),
  HistoryPrevious = action('prompts', 'older', 'older prompt', {
    input = { '<M-p>' },
    insert = { '<M-p>' },
  }),
  Prompts = action('pickers', 'prompts', 'choose a prompt you sent before'),
  HistoryNext = action('prompts', 'newer', 'newer prompt', {
    input = { '<M-n>' },
    insert = { '<M-n>' },
  }),
  Stop = action('prompts', 'stop', 'stop the turn', {
    chat = { STOP_KEY },
    input = { STOP_KEY },
  }),
  AddContext = action('contexts', 'add', 'add this file or selection to the context'),
  Contexts = action('contexts', 'choose', 'what goes along with a prompt; take it away', {
    chat = { 'gC' },
    input = { 'gC' },
  }),

  Chat = action('chats', 'open', 'go to the chat; what is selected goes along'),
  Toggle = action('chats', 'toggle', 'open or hide the chat'),
  Hide = action('chats', 'hide', 'hide the chat', {
    chat = { 'q', 'gQ' },
    input = { 'gQ' }, -- there q records a macro
  }),
  New = action('chats', 'new', 'start a new chat'),
  Chats = action('manage', 'pick', 'choose a chat'),
  NextChat = action('manage', 'next', 'next chat', { chat = { ']b' }, input = { ']b' } }),
  PreviousChat = action('manage', 'previous', 'chat before', {
    chat = { '[b' },
    input = { '[b' },
  }),
  Rename = action('manage', 'rename', 'give the chat a title'),
  Clear = action('manage', 'clear', 'take all messages out of the chat'),
  Delete = action('manage', 'delete', 'delete the chat'),
  Usage = action('chats', 'usage', 'what fills the context, and what it cost'),
  Input = action('chats', 'insert', 'type a prompt', { chat = { 'i', 'I', 'o', 'O' } }),
  Put = action('chats', 'put', 'put a register into the input', { chat = { 'p', 'P' } }),

  Resume = action('history', 'resume', 'go on with a chat of another day'),
  Older = action('history', 'older', 'load older messages'),
  History = action('history', 'timeline', 'go to a prompt or a flag', { chat = { 'gh' } }),
  Rollback = action('history', 'rollback', 'undo the chat from here on', { chat = { 'gu' } }),
  Fork = action('history', 'fork', 'go on from here in a new chat', { chat = { 'gb' } }),
  Flag = action('history', 'flag', 'set a flag here, or take it away', { chat = { 'gm' } }),
  NextFlag = action('history', 'next_flag', 'next flag', { chat = { ']f' } }),
  PreviousFlag = action('history', 'previous_flag', 'flag before', { chat = { '[f' } }),

  Approval = action('approvals', 'focus', 'go to the request that waits', {
    chat = { 'g<CR>' },
    input = { 'g<CR>' },
  }),
  Approve = action('approvals', 'approve', 'accept', { waiting = { 'a' } }),
  ApproveRemember = action('approvals', 'remember', 'accept, and remember for this session', {
    waiting = { 'A' },
  }),
  ApproveAll = action('approvals', 'approve_all', 'accept all that waits in the chat'),
  Reject = action('approvals', 'reject', 'reject', { waiting = { 'r' } }),
  RejectReason = action('approvals', 'reject_reason', 'reject and say what to do instead', {
    waiting = { 'R' },
  }),
  Diff = action('approvals', 'diff', 'whole diff in a tab page', {
    chat = { 'gd' },
    waiting = { 'd' },
  }),
  Answer = action('approvals', 'answer', 'answer the question'),

  Act = action('blocks', 'act', 'open or close the block, follow the link', {
    chat = { '<CR>', '<2-LeftMouse>' },
  }),
  ToggleBlock = action('blocks', 'toggle', 'open or close the block', { chat = { '<Tab>', 'za' } }),
  OpenBlock = action('blocks', 'open', 'open the block', { chat = { 'zo' } }),
  CloseBlock = action('blocks', 'close', 'close the block', { chat = { 'zc' } }),
  OpenAll = action('blocks', 'open_all', 'open all blocks', { chat = { 'zR' } }),
  CloseAll = action('blocks', 'close_all', 'close all blocks', { chat = { 'zM' } }),
  OpenFile = action('blocks', 'open_file', 'open the file in a code window', { chat = { 'gf' } }),
  OpenLink = action('blocks', 'open_link', 'open the link under the cursor', {
    chat = { 'gx' },
  }),
  YankCode = action('blocks', 'yank_code', 'yank the code block', { chat = { 'gy' } }),
  Tasks = action('blocks', 'tasks', "go to the agent's list of tasks"),
  NextTurn = action('blocks', 'next_turn', 'next prompt of yours', { chat = { ']]' } }),
  PreviousTurn = action('blocks', 'previous_turn', 'previous prompt of yours', { chat = { '[[' } }),
  NextApproval = action('blocks', 'next_approval', 'next block that waits', { chat = { ']a' } }),
  PreviousApproval = action('blocks', 'previous_approval', 'previous block that waits', {
    chat = { '[a' },
  }),

  Changes = action('review', 'changes', "list what the chat's tools changed"),
  ChangeKeep = action('review', 'keep', 'keep the change', { changes = { 'a' } }),
  ChangeRevert = action('review', 'revert', 'revert the change', { changes = { 'r' } }),
  ChangeComment = action('review', 'comment', 'comment on the change', { changes = { 'c' } }),
  ChangeSend = action('review', 'send', 'send all comments', { changes = { 's' } }),
  UndoTurn = action('review', 'undo', "undo the last turn's changes", { changes = { 'u' } }),
  Files = action('review', 'files', "list the files that the chat's tools used"),
  Conflicts = action('review', 'conflicts', 'files changed on disk, and here'),

  Model = action('pickers', 'model', 'choose the model'),
  Agent = action('pickers', 'agent', 'choose the agent'),
  NextAgent = action('pickers', 'next_agent', 'go on with the next agent', {
    chat = { '<S-Tab>' },
    input = { '<S-Tab>' },
  }),
  Variant = action('pickers', 'variant', 'choose the variant'),
  Trust = action('pickers', 'trust', 'let this chat work without asking, or no longer'),
  Palette = action('palette', 'choose', 'choose what to do', {
    chat = { 'ga' },
    input = { 'ga' },
  }),
  Keys = action('help', 'keys', 'these keys', {
    chat = { 'g?' },
    input = { 'g?' },
    changes = { 'g?' },
  }),
}

--- Do what an action does. Called by the <Plug> mappings.
---@param name string
function M.run(name)
  local found = M.actions[name]
  require('eca.actions.' .. found.at)[found.call]()
end

--- An action's name as a mapping has it.
---@param name string
---@return string
function M.plug(name)
  return ('<Plug>(Eca%s)'):format(name)
end

--- A key as the documentation writes it: Neovim tells of `<C-C>`.
---@param key string
---@return string
function M.written(key)
  return (key:gsub('<C%-%u>', string.lower):gsub('<c%-', '<C-'))
end

---@class eca.KeyPlace
---@field mode string
---@field keys string[]
---@field plug? fun(name: string): string? what is done when a key is pressed; nil: what Vim does

--- The key in the list of changes is ours while that is what the quickfix window shows.
---@param name string
---@return string?
local function in_changes(name)
  return require('eca.review').is_shown() and M.plug(name) or nil
end

--- On the block that waits a key answers, elsewhere it goes there.
---@param name string
---@return string?
local function on_waiting(name)
  local approvals = require('eca.actions.approvals')
  if approvals.on_waiting_block() then
    return M.plug(name)
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
  local desc = 'eca: ' .. M.actions[name].text
  if not place.plug then
    vim.keymap.set(place.mode, key, M.plug(name), { buffer = buf, desc = desc, remap = true })
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
  require('eca.keymaps.plugs').define()
  if not require('eca.config').get().keymaps then
    return
  end
  require('eca.input.interrupt').watch(M.plug('Stop'), function()
    M.run('Stop')
  end)
  local by_user = { n = is_mapped(buf, 'n', '<Plug>(Eca'), i = is_mapped(buf, 'i', '<Plug>(Eca') }
  for name, found in pairs(M.actions) do
    for _, place in ipairs(places(found, kind)) do
      local mapped = by_user[place.mode] and is_mapped(buf, place.mode, M.plug(name))
      for _, key in ipairs(mapped and {} or place.keys) do
        map(buf, name, place, key)
      end
    end
  end
end

return M
