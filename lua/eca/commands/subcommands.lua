--- The subcommands of `:Eca`, in the order in which the palette offers them: what is used most
--- comes first, what is pending before everything else.
---
--- Rules kept here:
--- - This file is one list: what a subcommand runs, what it takes, and when the palette offers it.
--- - The first chat waits for this file to load: functions are named by module (in `eca.`) and
---   name, and loaded when they are called.
local actions = require('eca.keymaps.actions')
local eca = require('eca')

local M = {}

---@class eca.Call what Neovim passes to a command
---@field args string
---@field bang boolean
---@field range integer
---@field line1 integer
---@field line2 integer
---@field smods table

---@alias eca.Argument string|integer|nil a number if that is what the subcommand takes

---@class eca.Subcommand
---@field name string
---@field on string what must hold for the palette to offer it, see `look` there
---@field typed? boolean the palette lets the user type its argument
---@field action? string the action that it runs, with its argument; also names its key and text
---@field key? string an action that does almost the same, for its key in the palette
---@field text? string for the palette: short, for a call without an argument
---@field needs? eca.Ability what the server must be able to do, if not that of the action
---@field run? string|fun(argument: eca.Argument, bang: boolean, call: eca.Call) beside an action
---only for an argument or a `!`
---@field bang? boolean|'alone' a `!` means something; `alone`: with it there is no argument
---@field takes? string what its argument is, for the message about a wrong one; `text`: anything
---@field number? string pattern of an argument that is a number
---@field words? string[] arguments besides that
---@field choices? string|fun(lead: string, bang: boolean, before: string): string[] of its argument

---@param what eca.Choosable
---@param action string
---@param bang? 'alone'
---@return eca.Subcommand
local function choice(what, action, bang)
  local function choices()
    return require('eca.actions.options').offers(what)
  end
  return { action = action, takes = 'text', bang = bang, choices = choices }
end

---@param act 'choose'|'start'|'restart'|'quit'|'login'|'logout' what is done with what is named
---@param text string
---@param names string
---@param needs? eca.Ability
---@return eca.Subcommand
local function server(act, text, names, needs)
  local run = 'actions.servers.' .. act
  return { text = text, takes = 'text', run = run, choices = names, needs = needs }
end

local NUMBER, TURN = '^%d+$', 'the number of a turn'
local SERVERS, LOGINS = 'state.servers.names', 'actions.servers.logins'

M.list = {} ---@type eca.Subcommand[]
M.by_name = {} ---@type table<string, eca.Subcommand>

---@param name string
---@param on string see `eca.Subcommand`
---@param subcommand table its other fields
local function add(name, on, subcommand)
  subcommand.name, subcommand.on = name, on
  M.list[#M.list + 1], M.by_name[name] = subcommand, subcommand
end

add('approval', 'request', { action = 'Approval' })
add('approve', 'approval', {
  key = 'Approve',
  text = 'allow the pending request',
  takes = 'text',
  run = function(id, remember)
    eca.approve({ id = id, remember = remember })
  end,
})
add('reject', 'approval', {
  key = 'Reject',
  text = 'reject the pending request',
  takes = 'text',
  run = function(reason)
    eca.reject({ reason = reason })
  end,
})
add('choose', 'choices', {
  action = 'Choose',
  text = 'answer the pending request by the number of a choice',
  takes = 'the number of a choice',
  number = NUMBER,
  run = function(number)
    eca.choose({ choice = number })
  end,
})
add('approve-all', 'approvals', {
  key = 'ApproveAll',
  text = 'allow all pending requests of the chat that you have seen whole',
  run = function(_, of_all_chats)
    local chat = not of_all_chats and require('eca.window').current_chat() or nil
    if require('eca.approval').accept_all(chat, true) == 0 then
      require('eca.ui.notify').info('no pending request')
    end
  end,
})
add('diff', 'approval', { action = 'Diff' })
add('answer', 'question', {
  action = 'Answer',
  takes = 'text',
  run = function(text)
    eca.answer(text)
  end,
})
add('stop', 'busy', { action = 'Stop' })
add('steer', 'steerable', {
  action = 'Submit',
  text = 'send a prompt into the running turn',
  takes = 'text',
  run = function(text)
    require('eca.actions.prompts').send(text, { typed = text })
  end,
})
add('queue', 'drafted', {
  action = 'Queue',
  takes = 'text',
  run = function(text)
    require('eca.actions.prompts').send(text, { queue = true, typed = text })
  end,
})
add('unqueue', 'queued', {
  action = 'Unqueue',
  text = 'take a queued prompt back to edit it',
  takes = 'the number of a queued prompt',
  number = NUMBER,
  bang = true,
  choices = function()
    local chat = require('eca.window').current_chat()
    local queued = require('eca.state.mirror').chat(chat).queue
    return vim.tbl_map(tostring, vim.tbl_keys(queued))
  end,
})
add('conflicts', 'conflicts', { action = 'Conflicts' })
add('toggle', 'hidden', { action = 'Toggle' })
add('add', 'code', {
  key = 'AddContext',
  text = 'add this file to the context',
  takes = 'text',
  run = 'actions.contexts.run',
  choices = 'commands.completion.to_add',
})
add('rewrite', 'code', {
  key = 'Rewrite',
  text = 'rewrite the function or paragraph here as you say',
  takes = 'text',
  bang = true,
  run = 'actions.rewrite.run',
  choices = 'actions.rewrite.recent',
})
add('ask', 'code', {
  key = 'Ask',
  takes = 'text',
  run = 'actions.ask.run',
  text = 'ask about the line here',
})
add(
  'act',
  'code',
  { key = 'CodeActions', text = actions.CodeActions.text, run = 'actions.code_actions.run' }
)
add('complete', 'code', { action = 'Complete' })
add('commit', 'code', {
  text = 'have the message of a commit written',
  bang = 'alone',
  run = 'commit.run',
})
add('contexts', 'contexts', { action = 'Contexts' })
add('changes', 'prompted', {
  action = 'Changes',
  takes = TURN,
  number = NUMBER,
  words = { 'keep', 'revert', 'comment', 'send' },
  run = 'actions.review.changes',
})
add('review', 'prompted', {
  action = 'Review',
  takes = "'hide'",
  words = { 'hide' },
  run = 'actions.review.in_code',
})
add('undo-turn', 'prompted', {
  action = 'UndoTurn',
  text = "undo the last turn's changes to files",
  takes = TURN,
  number = NUMBER,
})
add('new', 'always', { action = 'New' })
add('chats', 'chats', {
  action = 'Chats',
  takes = 'the number of a chat',
  number = '^%d+%f[%z%s]', -- its title may follow, as it is completed
  run = 'actions.chats.go_to',
  choices = 'commands.completion.chats',
})
add('resume', 'always', { action = 'Resume', takes = 'text' })
add('model', 'models', choice('model', 'Model'))
add('agent', 'agents', choice('agent', 'Agent', 'alone'))
add('variant', 'variants', choice('variant', 'Variant'))
add(
  'options',
  'options',
  { action = 'Options', takes = 'text', choices = 'actions.options.complete' }
)
add('trust', 'chat', {
  action = 'Trust',
  takes = "'on' or 'off'", -- a typo must not let anything run
  words = { 'on', 'off' },
})
add('tasks', 'plan', { action = 'Tasks' })
add('plan', 'prompted', { action = 'Plan' })
add('older', 'older', { action = 'Older' })
add('history', 'prompted', { action = 'History' })
add('prompts', 'prompts', { action = 'Prompts' })
add('template', 'always', {
  text = 'send a prompt from a template',
  takes = 'text',
  run = 'actions.templates.run',
  choices = 'state.templates.names',
})
add('grep', 'prompted', {
  typed = true,
  text = 'search the whole chat',
  takes = 'text',
  run = 'chat.search.run',
})
add('rollback', 'settled', { action = 'Rollback', text = 'roll back to before a prompt' })
add('edit', 'prompted', { action = 'Edit', text = 'edit a prompt and send it again' })
add('retry', 'settled', {
  action = 'Retry',
  text = 'send the last prompt again, maybe to another model',
  takes = 'text',
  choices = choice('model', 'Model').choices,
})
add('fork', 'settled', { action = 'Fork' })
add('files', 'prompted', { action = 'Files' })
add('put', 'prompted', { action = 'PutCode' })
add('usage', 'used', { action = 'Usage' })
add('paste', 'shown', { action = 'Paste' })
add('hide', 'shown', { action = 'Hide' })
add('flag', 'prompted', {
  key = 'Flag',
  text = 'set a flag here',
  takes = 'text',
  bang = 'alone',
  run = function(text, bang)
    require('eca.actions.history')[bang and 'remove_flag' or 'add_flag'](text)
  end,
})
add('export', 'prompted', {
  text = 'show the chat as Markdown',
  takes = 'text',
  run = 'chat.output.export',
  choices = function(lead)
    return vim.fn.getcompletion(lead, 'file')
  end,
})
add('rename', 'prompted', { action = 'Rename', takes = 'text' })
add('clear', 'settled', { action = 'Clear', bang = true })
add('delete', 'chat', { action = 'Delete', bang = true })
add('install', 'failed', {
  text = "build the plugin's Python environment",
  takes = 'text',
  run = 'actions.servers.install',
  choices = 'actions.servers.installable',
})
add('update', 'installed', {
  text = 'look for a newer version of the ECA server',
  takes = 'text',
  run = 'actions.servers.update',
  choices = 'actions.servers.updatable',
})
add('uninstall', 'installed', {
  typed = true,
  text = 'remove a server that was installed',
  takes = 'text',
  run = 'actions.servers.uninstall',
  choices = 'state.servers.installed',
})
add('folder', 'started', {
  typed = true,
  text = 'let the agents work in another folder, too',
  takes = 'text',
  run = 'actions.folders.run',
  choices = 'commands.completion.folders',
})
add('server', 'always', server('choose', 'see all servers, install and choose one', SERVERS))
for _, panel in ipairs(require('eca.state.panel_names')) do
  if not M.by_name[panel[1]] then
    add(panel[1], 'always', {
      text = panel[2],
      run = function()
        require('eca.panels').open(panel[1])
      end,
    })
  end
end
add('start', 'stopped', server('start', 'start the server', SERVERS))
add('restart', 'started', server('restart', 'restart the server', SERVERS))
add('quit', 'started', server('quit', 'stop the server', SERVERS))
add(
  'login',
  'chat',
  server('login', 'log in to the server, or to a model provider', LOGINS, 'login')
)
add('logout', 'chat', server('logout', 'log out', LOGINS, 'logout'))
add('demo', 'always', { text = 'talk to the built-in demo agent', run = 'actions.servers.demo' })
add('log', 'always', { text = 'open the log', run = 'commands.plugin.log' })
add('report', 'always', { text = 'collect what a bug report needs', run = 'health.report.show' })
add('health', 'always', {
  text = 'check the installation',
  run = function()
    vim.cmd.checkhealth('eca')
  end,
})
add('help', 'always', {
  text = 'open the help',
  takes = 'text',
  run = 'commands.plugin.help',
  choices = 'commands.plugin.topics',
})

--- What the server must be able to do for a subcommand.
---@param subcommand eca.Subcommand
---@return eca.Ability?
function M.needs(subcommand)
  local name = subcommand.action or subcommand.key
  return subcommand.needs or name and actions[name].needs
end

--- The names that begin with a text.
---@param lead string
---@return string[]
function M.beginning(lead)
  local found = vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, vim.tbl_keys(M.by_name))
  table.sort(found)
  return found
end

return M
