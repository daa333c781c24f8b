--- The user's actions: one table with the name of each, what it does, and its keys in our buffers.
---
--- Rules kept here: this file is only a list, so that everything that names actions can read it.

---@class eca.Action
---@field text string what it does, for the list of keys
---@field at string module `eca.actions.…`
---@field call string function of that module
---@field chat? string[] keys in the transcript, normal mode
---@field input? string[] keys in the input, normal mode
---@field insert? string[] keys in the input, insert mode
---@field changes? string[] keys in the list of changes
---@field pending? string[] keys in the transcript, on a block that needs approval
---@field needs? eca.Ability what the server must be able to do

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
return {
  Submit = action('prompts', 'submit', 'send the prompt', {
    input = { '<CR>', '<C-s>' },
    insert = { '<C-s>' },
    chat = { '<C-s>' },
  }),
  Queue = action('prompts', 'queue', 'queue the prompt: send it when the turn ends', {
    input = { QUEUE_KEY },
    insert = { QUEUE_KEY },
  }),
  Unqueue = action('prompts', 'unqueue', 'take the last queued prompt back to edit it', {
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
  Paste = action('contexts', 'paste', 'put the image of the clipboard into the prompt'),
  Contexts = action('contexts', 'choose', 'show or remove context', {
    chat = { 'gC' },
    input = { 'gC' },
  }),

  Chat = action('chats', 'open', 'go to the chat, with the selection as context'),
  Toggle = action('chats', 'toggle', 'open or hide the chat'),
  Hide = action('chats', 'hide', 'hide the chat', {
    chat = { 'q', 'gQ' },
    input = { 'gQ' }, -- there q records a macro
  }),
  New = action('chats', 'new', 'start a new chat'),
  Chats = action('manage', 'pick', 'choose a chat'),
  NextChat = action('manage', 'next', 'next chat', { chat = { ']b' }, input = { ']b' } }),
  PreviousChat = action('manage', 'previous', 'previous chat', {
    chat = { '[b' },
    input = { '[b' },
  }),
  Rename = action('manage', 'rename', 'rename the chat', { needs = 'rename' }),
  Clear = action('manage', 'clear', 'clear the chat', { needs = 'clear' }),
  Delete = action('manage', 'delete', 'delete the chat', { needs = 'delete' }),
  Usage = action('chats', 'usage', 'show what fills the context window, and the cost'),
  Input = action('chats', 'insert', 'type a prompt', { chat = { 'i', 'I', 'o', 'O' } }),
  Put = action('chats', 'put', 'put a register into the input', { chat = { 'p', 'P' } }),

  Resume = action('history', 'resume', 'resume an earlier chat', { needs = 'list' }),
  Older = action('history', 'older', 'load older messages'),
  History = action('history', 'timeline', 'go to a prompt or a flag', { chat = { 'gh' } }),
  Rollback = action('history', 'rollback', 'roll back to before this prompt', {
    chat = { 'gu' },
    needs = 'rollback',
  }),
  Fork = action('history', 'fork', 'continue from here in a new chat', {
    chat = { 'gb' },
    needs = 'fork',
  }),
  Flag = action('history', 'flag', 'set or remove a flag here', {
    chat = { 'gm' },
    needs = 'flags',
  }),
  NextFlag = action('history', 'next_flag', 'next flag', { chat = { ']f' } }),
  PreviousFlag = action('history', 'previous_flag', 'previous flag', { chat = { '[f' } }),

  Approval = action('approvals', 'focus', 'go to the pending request', {
    chat = { 'g<CR>' },
    input = { 'g<CR>' },
  }),
  Approve = action('approvals', 'approve', 'allow', { pending = { 'a' } }),
  ApproveRemember = action('approvals', 'remember', 'always allow it in this session', {
    pending = { 'A' },
  }),
  ApproveAll = action('approvals', 'approve_all', 'allow all pending requests of the chat'),
  Reject = action('approvals', 'reject', 'reject', { pending = { 'r' } }),
  RejectReason = action('approvals', 'reject_reason', 'reject and say what to do instead', {
    pending = { 'R' },
  }),
  Choose = action('approvals', 'choose', 'answer the pending request by one of its choices'),
  Diff = action('approvals', 'diff', 'show the whole diff in a tab page', {
    chat = { 'gd' },
    pending = { 'd' },
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
  Tasks = action('blocks', 'tasks', "go to the agent's task list"),
  NextTurn = action('blocks', 'next_turn', 'next prompt', { chat = { ']]' } }),
  PreviousTurn = action('blocks', 'previous_turn', 'previous prompt', { chat = { '[[' } }),
  NextApproval = action('blocks', 'next_approval', 'next pending request', { chat = { ']a' } }),
  PreviousApproval = action('blocks', 'previous_approval', 'previous pending request', {
    chat = { '[a' },
  }),

  Changes = action('review', 'changes', 'list what tools changed'),
  ChangeKeep = action('review', 'keep', 'keep the change', { changes = { 'a' } }),
  ChangeRevert = action('review', 'revert', 'revert the change', { changes = { 'r' } }),
  ChangeComment = action('review', 'comment', 'comment on the change', { changes = { 'c' } }),
  ChangeSend = action('review', 'send', 'send all comments', { changes = { 's' } }),
  UndoTurn = action('review', 'undo', "undo the last turn's changes", { changes = { 'u' } }),
  Files = action('review', 'files', 'list the files that the agent has used'),
  Conflicts = action('review', 'conflicts', 'files changed on disk and in a buffer'),

  Model = action('options', 'model', 'choose the model'),
  Agent = action('options', 'agent', 'choose the agent'),
  NextAgent = action('options', 'next_agent', 'switch to the next agent', {
    chat = { '<S-Tab>' },
    input = { '<S-Tab>' },
  }),
  Variant = action('options', 'variant', 'choose the variant'),
  Options = action('options', 'options', 'set other options of the chat'),
  Trust = action('pickers', 'trust', 'turn trust on or off: run tools without asking'),
  Palette = action('pickers', 'palette', 'choose what to do', {
    chat = { 'ga' },
    input = { 'ga' },
  }),
  Keys = action('help', 'keys', 'list the keys', {
    chat = { 'g?' },
    input = { 'g?' },
    changes = { 'g?' },
  }),
}
