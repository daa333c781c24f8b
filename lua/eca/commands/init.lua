--- `:EcaChat` and `:Eca {sub}`.
---
--- Rules kept here:
--- - A prompt is passed on as it was typed: `|`, quotes, `%` and `#` have no meaning in it.
--- - Completion (`completion.lua`) offers only what works; for any other name a message helps.
--- - A wrong argument does nothing but show a message (`checks.lua`).
--- - The first chat waits for this file to load: what other subcommands need is loaded late.
local actions = require('eca.keymaps.actions')
local chats = require('eca.chat.buffers')
local checks = require('eca.commands.checks')
local eca = require('eca')
local log = require('eca.host.log')
local keymaps = require('eca.keymaps')
local scan = require('eca.text.scan')

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
---@field action? string the action that it runs, with its argument; also names its key and text
---@field key? string an action that does almost the same, for its key in the palette
---@field text? string for the palette: short, for a call without an argument
---@field needs? eca.Ability what the server must be able to do, if not that of the action
---@field run? fun(argument: eca.Argument, bang: boolean, call: eca.Call) beside an action only
---for an argument or a `!`
---@field bang? boolean|'alone' a `!` means something; `alone`: with it there is no argument
---@field takes? string what its argument is, for the message about a wrong one; `text`: anything
---@field number? string pattern of an argument that is a number
---@field words? string[] arguments besides that
---@field choices? fun(lead: string, bang: boolean, before: string): string[] of its argument

--- The lines of a command's range.
---@param call eca.Call
---@return integer? first, integer? last
local function lines_of(call)
  if call.range > 0 then
    return call.line1, call.line2
  end
end

--- Send a prompt, and scroll to the end so that the user sees the answer.
---@param text string
---@param opts eca.SendOptions
local function send(text, opts)
  opts.chat = opts.chat or eca.current()
  local item, word = require('eca.state.mirror').secret(opts.chat), scan.trim(text)
  if item and not word:find('%s') then -- it may be the secret that the chat asks for
    if vim.fn.histget('cmd', -1):find(word, 1, true) then
      vim.fn.histdel('cmd', -1)
    end
    require('eca.input.secret').ask(item, word)
    return
  end
  eca.send(text, opts)
  require('eca.input').show_end(opts.chat)
end

local function show_log()
  vim.cmd.split({ args = { log.path() }, magic = { file = false } })
  vim.cmd('normal! G')
  require('eca.window.to_code').uncover()
end

--- A function of a module that is loaded when it is called.
---@param module string
---@param name string
---@return function
local function at(module, name)
  return function(...)
    return require('eca.' .. module)[name](...)
  end
end

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
---@param names fun(): string[]
---@param needs? eca.Ability
---@return eca.Subcommand
local function server(act, text, names, needs)
  local run = at('actions.servers', act)
  return { text = text, takes = 'text', run = run, choices = names, needs = needs }
end

---@param rest? string
local function folder(rest)
  local act, path = (rest or ''):match('^(%l*)%s*(.*)$')
  if not rest then
    require('eca.actions.folders').list()
  elseif act == 'add' or act == 'remove' then
    path = path:gsub('\\ ', ' ')
    require('eca.actions.folders')[act](path ~= '' and path or nil)
  else
    require('eca.ui.notify').warn("folder takes 'add' or 'remove', and a folder")
  end
end

---@param rest? string
---@param edit boolean
---@param call eca.Call
local function template(rest, edit, call)
  local name, more = (rest or ''):match('^(%S*)%s*(.*)$')
  local first, last = lines_of(call)
  local options = { edit = edit, first = first, last = last }
  if name == '' then
    require('eca.actions.templates').choose(options)
  else
    require('eca.actions.templates').use(name, more, options)
  end
end

local NUMBER, TURN = '^%d+$', 'the number of a turn'
local SERVERS, LOGINS = at('state.servers', 'names'), at('actions.servers', 'logins')

---@type table<string, eca.Subcommand>
M.subcommands = {
  toggle = { action = 'Toggle' },
  hide = { action = 'Hide' },
  new = { action = 'New' },
  chats = {
    action = 'Chats',
    takes = 'the number of a chat',
    number = '^%d+%f[%z%s]', -- its title may follow, as it is completed
    run = at('actions.manage', 'go_to'),
    choices = at('commands.completion', 'chats'),
  },
  resume = { action = 'Resume' },
  rename = { action = 'Rename', takes = 'text' },
  clear = { action = 'Clear', bang = true },
  delete = { action = 'Delete', bang = true },
  older = { action = 'Older' },
  history = { action = 'History' },
  rollback = { action = 'Rollback', text = 'roll back to before a prompt' },
  fork = { action = 'Fork' },
  flag = {
    key = 'Flag',
    text = 'set a flag here',
    takes = 'text',
    bang = 'alone',
    run = function(text, bang)
      require('eca.actions.history')[bang and 'remove_flag' or 'add_flag'](text)
    end,
  },
  stop = { action = 'Stop' },
  steer = {
    action = 'Submit',
    text = 'send a prompt into the running turn',
    takes = 'text',
    run = function(text)
      send(text, {})
    end,
  },
  queue = {
    action = 'Queue',
    takes = 'text',
    run = function(text)
      send(text, { queue = true })
    end,
  },
  unqueue = {
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
  },
  approve = {
    key = 'Approve',
    text = 'allow the pending request',
    takes = 'text',
    run = function(id, remember)
      eca.approve({ id = id, remember = remember })
    end,
  },
  ['approve-all'] = {
    key = 'ApproveAll',
    text = 'allow all pending requests of the chat that you have seen whole',
    run = function(_, of_all_chats)
      local chat = not of_all_chats and require('eca.window').current_chat() or nil
      if require('eca.approval').accept_all(chat, true) == 0 then
        require('eca.ui.notify').info('no pending request')
      end
    end,
  },
  reject = {
    key = 'Reject',
    text = 'reject the pending request',
    takes = 'text',
    run = function(reason)
      eca.reject({ reason = reason })
    end,
  },
  choose = {
    action = 'Choose',
    text = 'answer the pending request by the number of a choice',
    takes = 'the number of a choice',
    number = NUMBER,
    run = function(number)
      eca.choose({ choice = number })
    end,
  },
  approval = { action = 'Approval' },
  answer = {
    action = 'Answer',
    takes = 'text',
    run = function(text)
      eca.answer(text)
    end,
  },
  diff = { action = 'Diff' },
  changes = {
    action = 'Changes',
    takes = TURN,
    number = NUMBER,
    words = { 'keep', 'revert', 'comment', 'send' },
    run = at('actions.review', 'changes'),
  },
  ['undo-turn'] = {
    action = 'UndoTurn',
    text = "undo the last turn's changes to files",
    takes = TURN,
    number = NUMBER,
  },
  files = { action = 'Files' },
  conflicts = { action = 'Conflicts' },
  tasks = { action = 'Tasks' },
  usage = { action = 'Usage' },
  add = {
    key = 'AddContext',
    text = 'add this file to the context',
    takes = 'text',
    run = function(name, bang, call)
      local act = bang and 'remove_named' or 'add_named'
      require('eca.actions.contexts')[act](name, lines_of(call))
    end,
    choices = function(lead, bang)
      if bang then
        return require('eca.context').labels(eca.current())
      end
      return require('eca.commands.completion').contexts(lead)
    end,
  },
  paste = { action = 'Paste' },
  contexts = { action = 'Contexts' },
  model = choice('model', 'Model'),
  agent = choice('agent', 'Agent', 'alone'),
  variant = choice('variant', 'Variant'),
  options = { action = 'Options', takes = 'text', choices = at('actions.options', 'complete') },
  trust = {
    action = 'Trust',
    takes = "'on' or 'off'", -- a typo must not let anything run
    words = { 'on', 'off' },
  },
  log = { text = 'open the log', run = show_log },
  export = {
    text = 'show the chat as Markdown',
    takes = 'text',
    run = at('chat.output', 'export'),
    choices = function(lead)
      return vim.fn.getcompletion(lead, 'file')
    end,
  },
  grep = { text = 'search the whole chat', takes = 'text', run = at('chat.search', 'run') },
  template = {
    text = 'send a prompt from a template',
    takes = 'text',
    run = template,
    choices = at('state.templates', 'names'),
  },
  prompts = { action = 'Prompts' },
  folder = {
    text = 'let the agents work in another folder, too',
    takes = 'text',
    run = folder,
    choices = at('commands.completion', 'folders'),
  },
  server = server('choose', 'choose the server of new chats', SERVERS),
  start = server('start', 'start the server', SERVERS),
  restart = server('restart', 'restart the server', SERVERS),
  quit = server('quit', 'stop the server', SERVERS),
  login = server('login', 'log in to the server, or to a model provider', LOGINS, 'login'),
  logout = server('logout', 'log out', LOGINS, 'logout'),
  demo = { text = 'talk to the built-in demo agent', run = at('actions.servers', 'demo') },
  install = {
    text = "build the plugin's Python environment",
    run = at('commands.plugin', 'install'),
  },
  health = {
    text = 'check the installation',
    run = function()
      vim.cmd.checkhealth('eca')
    end,
  },
  help = {
    text = 'open the help',
    takes = 'text',
    run = at('commands.plugin', 'help'),
    choices = at('commands.plugin', 'topics'),
  },
}

--- `:Eca {sub} [rest]`; without a name it opens the palette.
---@param call eca.Call
function M.run(call)
  local name, bang, rest = call.args:match('^([^%s!]*)(!?)(.*)$')
  rest = scan.trim(rest)
  require('eca.view') -- joins the host with what draws
  if name == '' then
    require('eca.commands.palette').choose(M.subcommands, M.needs)
    return
  end
  local found = checks.find(name, M.subcommands)
  call.bang = call.bang or bang == '!'
  local fault = not found and checks.complaint(name, M.subcommands)
    or checks.fault(name, found, call.bang, rest)
  if fault then
    require('eca.ui.notify').warn(fault)
    return
  end
  local number = found.number and tonumber(rest:match('^%d+'))
  local argument = number or (rest ~= '' and rest or nil)
  bang = call.bang and found.bang ~= nil
  if found.action and not (found.run and (argument or bang)) then
    keymaps.run(found.action, argument, bang)
  elseif keymaps.is_able(M.needs(found)) then
    found.run(argument, call.bang, call)
  end
end

--- What the server must be able to do for a subcommand.
---@param subcommand eca.Subcommand
---@return eca.Ability?
function M.needs(subcommand)
  local name = subcommand.action or subcommand.key
  return subcommand.needs or name and actions[name].needs
end

--- Completion of `:Eca`.
function M.complete(lead, line)
  return require('eca.commands.completion').eca(lead, line, M.subcommands)
end

--- `:[range]EcaChat[!] [prompt]`: the lines of a range are named in this prompt, or the next one.
---@param call eca.Call
function M.chat(call)
  require('eca.view') -- joins the host with what draws
  local ranged = call.range > 0
  local items = ranged and require('eca.actions.contexts').meant_here(lines_of(call)) or {}
  local id = eca.open({ chat = call.bang and chats.new() or nil, mods = call.smods })
  if not call.args:find('%S') then
    return require('eca.input.field').put_below(chats.get(id).input, items)
  end
  local named = require('eca.context.tokens').write_all(items)
  local prompt = call.args .. (named == '' and '' or ' ') .. named
  send(prompt, { chat = id, typed = prompt })
end

return M
