--- The user's actions: one table with the name of each, what it does, and its keys in our buffers.
---
--- Rules kept here: this file is only a list, so that everything that names actions can read it.

---@class eca.Action
---@field at string module `eca.actions.…`
---@field call string function of that module
---@field with any[] what it is called with
---@field text string what it does, for the list of keys
---@field chat string[] keys in the transcript, normal mode
---@field input string[] keys in the input, normal mode
---@field insert string[] keys in the input, insert mode
---@field changes string[] keys in the list of changes
---@field panel string[] keys in all panels
---@field preview string[] keys in a buffer with previews
---@field answer string[] keys in an answer to a question about lines, beside those of `preview`
---@field pending string[] keys in the transcript, on a block that needs approval
---@field needs? eca.Ability what the server must be able to do; checked before the call

local PLACES = { 'chat', 'input', 'insert', 'changes', 'panel', 'pending', 'preview', 'answer' }

---@param call string module and function
---@param text string
---@param more? table<string, string> keys by place, separated by blanks; what it needs
---@param ... any what it is called with
---@return eca.Action
local function action(call, text, more, ...)
  local at, name = call:match('^([%l_]+)%.([%l_]+)$')
  local made = { at = at, call = name, with = { ... }, text = text, needs = (more or {}).needs }
  for _, place in ipairs(PLACES) do
    made[place] = {}
    for key in ((more or {})[place] or ''):gmatch('[^ ]+') do
      table.insert(made[place], key)
    end
  end
  return made
end

---@type table<string, eca.Action>
return {
  Submit = action(
    'prompts.submit',
    'send the prompt',
    { chat = '<C-s>', input = '<CR> <C-s>', insert = '<C-s>' },
    false
  ),
  Queue = action(
    'prompts.submit',
    'queue the prompt: send it when the turn ends',
    { input = '<M-CR>', insert = '<M-CR>' },
    true
  ),
  Unqueue = action(
    'prompts.take_back',
    'take the last queued prompt back to edit it',
    { input = '<M-BS>', insert = '<M-BS>' }
  ),
  HistoryPrevious = action(
    'prompts.recall',
    'older prompt',
    { input = '<M-p>', insert = '<M-p>' },
    -1
  ),
  Prompts = action('prompts.choose', 'choose a prompt you sent before'),
  HistoryNext = action('prompts.recall', 'newer prompt', { input = '<M-n>', insert = '<M-n>' }, 1),
  Stop = action('prompts.stop', 'stop the turn', { chat = '<C-c>', input = '<C-c>' }),
  AddContext = action('contexts.add', 'add this file or selection to the context'),
  TerminalPrompt = action('contexts.ask_about_command', "ask about a terminal's last command"),
  Paste = action('contexts.paste', 'put the image of the clipboard into the prompt'),
  Contexts = action('contexts.choose', 'show or remove context', { chat = 'gC', input = 'gC' }),

  Chat = action('chats.open', 'go to the chat, with the selection as context'),
  Toggle = action('chats.toggle', 'open or hide the chat'),
  -- In the input q records a macro.
  Hide = action('chats.hide', 'hide the chat', { chat = 'q gQ', input = 'gQ' }),
  New = action('chats.new', 'start a new chat'),
  Chats = action('chats.pick', 'choose a chat'),
  NextChat = action('chats.cycle', 'next chat', { chat = ']b', input = ']b' }, 1),
  PreviousChat = action('chats.cycle', 'previous chat', { chat = '[b', input = '[b' }, -1),
  NextWaiting = action(
    'chats.go_to_waiting',
    'next chat that needs you',
    { chat = ']w', input = ']w', panel = ']w' },
    1
  ),
  PreviousWaiting = action(
    'chats.go_to_waiting',
    'previous chat that needs you',
    { chat = '[w', input = '[w', panel = '[w' },
    -1
  ),
  Rename = action('chats.rename', 'rename the chat', { needs = 'rename' }),
  Clear = action('chats.clear', 'clear the chat', { needs = 'clear' }),
  Delete = action('chats.delete', 'delete the chat', { needs = 'delete' }),
  Usage = action('chats.usage', 'show what fills the context window, and the cost'),
  Input = action('chats.insert', 'type a prompt', { chat = 'i I o O' }),
  Put = action('chats.put', 'put a register into the input', { chat = 'p P' }),

  Resume = action('history.resume', 'resume an earlier chat', { needs = 'list' }),
  Older = action('history.older', 'load older messages'),
  History = action('history.timeline', 'go to a prompt or a flag', { chat = 'gh' }),
  Rollback = action('history.rollback', 'roll back to before this prompt', { chat = 'gu' }),
  Edit = action('history.edit', 'edit this prompt and send it again', { chat = 'gs' }),
  Retry = action('prompts.retry', 'send the last prompt again', { chat = 'gR' }),
  NextAttempt = action(
    'prompts.step_answer',
    'next answer to this prompt',
    { chat = ']r', input = ']r' },
    1
  ),
  PreviousAttempt = action(
    'prompts.step_answer',
    'previous answer to this prompt',
    { chat = '[r', input = '[r' },
    -1
  ),
  Fork = action(
    'history.fork',
    'continue from here in a new chat',
    { chat = 'gb', needs = 'fork' }
  ),
  Flag = action('history.flag', 'set or remove a flag here', { chat = 'gm', needs = 'flags' }),
  NextFlag = action('blocks.jump', 'next flag', { chat = ']f' }, 'flag', 1),
  PreviousFlag = action('blocks.jump', 'previous flag', { chat = '[f' }, 'flag', -1),

  Approval = action(
    'approvals.focus',
    'go to the pending request',
    { chat = 'g<CR>', input = 'g<CR>', panel = 'g<CR>' }
  ),
  Approve = action('approvals.answer_call', 'allow', { pending = 'a' }, 'accept'),
  ApproveRemember = action(
    'approvals.answer_call',
    'always allow it in this session',
    { pending = 'A' },
    'accept',
    true
  ),
  ApproveAll = action('approvals.approve_all', 'allow all pending requests of the chat'),
  Reject = action('approvals.answer_call', 'reject', { pending = 'r' }, 'reject'),
  RejectReason = action(
    'approvals.answer_call',
    'reject and say what to do instead',
    { pending = 'R' },
    'reject_with_reason'
  ),
  ToggleHunk = action(
    'approvals.toggle_hunk',
    'leave out the hunk under the cursor, or take it again',
    { pending = '-' }
  ),
  Choose = action('approvals.choose', 'answer the pending request by one of its choices'),
  Diff = action(
    'approvals.diff',
    'show the whole diff in a tab page',
    { chat = 'gd', pending = 'd' }
  ),
  Plan = action('approvals.plan', "open the agent's plan to change it"),
  Answer = action('approvals.answer', 'answer the question'),

  Act = action(
    'blocks.act',
    'open or close the block, follow the link',
    { chat = '<CR> <2-LeftMouse>' }
  ),
  ToggleBlock = action('blocks.set_open', 'open or close the block', { chat = '<Tab> za' }),
  OpenBlock = action('blocks.set_open', 'open the block', { chat = 'zo' }, true),
  CloseBlock = action('blocks.set_open', 'close the block', { chat = 'zc' }, false),
  OpenAll = action('blocks.set_all_open', 'open all blocks', { chat = 'zR' }, true),
  CloseAll = action('blocks.set_all_open', 'close all blocks', { chat = 'zM' }, false),
  OpenFile = action(
    'blocks.open_file',
    'open the file in a code window',
    { chat = 'gf', answer = 'gf' }
  ),
  OpenLink = action(
    'blocks.open_link',
    'open the link under the cursor',
    { chat = 'gx', answer = 'gx' }
  ),
  YankCode = action('blocks.yank_code', 'yank the code block', { chat = 'gy', answer = 'gy' }),
  PutCode = action(
    'put.code',
    'put the code block into a file or terminal',
    { chat = 'gp', answer = 'gp' }
  ),
  Tasks = action('blocks.tasks', "go to the agent's task list"),
  NextTurn = action('blocks.jump', 'next prompt', { chat = ']]' }, 'user', 1),
  PreviousTurn = action('blocks.jump', 'previous prompt', { chat = '[[' }, 'user', -1),
  NextApproval = action('blocks.jump_to_request', 'next pending request', { chat = ']a' }, 1),
  PreviousApproval = action(
    'blocks.jump_to_request',
    'previous pending request',
    { chat = '[a' },
    -1
  ),

  Changes = action('review.changes', 'list what tools changed'),
  ChangeKeep = action('review.keep', 'keep the change', { changes = 'a' }),
  ChangeRevert = action('review.revert', 'revert the change', { changes = 'r' }),
  ChangeComment = action('review.comment', 'comment on the change', { changes = 'c' }),
  ChangeSend = action('review.send', 'send all comments', { changes = 's' }),
  UndoTurn = action('review.open', "undo the last turn's changes", { changes = 'u' }, 'undo'),
  Review = action('review.in_code', 'review changes in the files'),
  NextChange = action('review.jump', 'next change to review, in any file', {}, 1),
  PreviousChange = action('review.jump', 'previous change to review', {}, -1),
  Files = action('review.open', 'list the files that the agent has used', {}, 'files'),
  Conflicts = action('review.conflicts', 'files changed on disk and in a buffer'),

  Rewrite = action('rewrite.operator', 'rewrite the lines of a motion or selection'),
  PreviewAccept = action('previews.hunk', 'accept the change here', { preview = 'do' }, 'accept'),
  PreviewAcceptAll = action('previews.all', 'accept all changes', { preview = 'dO' }, 'accept'),
  PreviewReject = action('previews.hunk', 'reject the change here', { preview = 'dx' }, 'drop'),
  PreviewRejectAll = action('previews.all', 'reject all changes', { preview = 'dX' }, 'drop'),
  PreviewRetry = action('previews.retry', 'ask for the same again', { preview = 'dR' }),
  PreviewInstruct = action(
    'previews.instruct',
    'edit what is asked, and ask again',
    { preview = 'dI' }
  ),
  PreviewDiff = action('previews.diff', 'show the preview as a diff', { preview = 'dD' }),
  PreviewStop = action('previews.stop', 'stop what still comes', { preview = 'dQ' }),
  PreviewEnter = action('ask.enter', 'go into the answer, or back', { preview = 'dK' }),
  PreviewAsk = action('ask.more', 'ask another question below the answer', { preview = 'dA' }),
  PreviewChat = action('ask.to_chat', 'go on in a chat', { preview = 'dC' }),
  PreviewCopy = action('ask.copy', "yank the answer's code", { preview = 'dY' }),
  PreviewPut = action('ask.put', "put the answer's code into the file", { preview = 'dP' }),
  PreviewClose = action('ask.close', 'close the answer', { answer = 'q' }),
  Ask = action('ask.here', 'ask about the line here, or the selection'),
  CodeActions = action('code_actions.choose', 'choose what to do with the code here'),
  Complete = action('inline.complete', 'complete the code at the cursor'),
  AcceptCompletion = action('inline.accept', 'insert the completion at the cursor', {}, 'all'),
  AcceptWord = action('inline.accept', 'insert the next word of the completion', {}, 'word'),
  AcceptLine = action('inline.accept', 'insert the next line of the completion', {}, 'line'),
  DismissCompletion = action('inline.dismiss', 'remove the completion at the cursor'),

  Model = action('options.choose', 'choose the model', {}, 'model'),
  Agent = action('options.choose', 'choose the agent', {}, 'agent'),
  NextAgent = action(
    'options.next_agent',
    'switch to the next agent',
    { chat = '<S-Tab>', input = '<S-Tab>' }
  ),
  Variant = action('options.choose', 'choose the variant', {}, 'variant'),
  Options = action('options.options', 'set other options of the chat'),
  Trust = action('options.trust', 'turn trust on or off: run tools without asking'),
  Palette = action('help.palette', 'choose what to do', { chat = 'ga', input = 'ga' }),
  Keys = action('help.keys', 'list the keys', { chat = 'g?', input = 'g?', changes = 'g?' }),
}
