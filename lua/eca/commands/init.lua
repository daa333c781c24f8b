--- `:EcaChat` and `:Eca {sub}`.
---
--- Rules kept here:
--- - A prompt is passed on as it was typed: `|`, quotes, `%` and `#` have no meaning in it.
--- - Completion (`completion.lua`) offers only what works; for any other name a message helps.
--- - A wrong argument does nothing but show a message (`checks.lua`).
--- - The first chat waits for this file to load: what other subcommands need is loaded late.
local chats = require('eca.chat.buffers')
local checks = require('eca.commands.checks')
local eca = require('eca')
local host = require('eca.host')
local scan = require('eca.text.scan')

local M = {}

---@class eca.Call what Neovim passes to a command
---@field args string
---@field bang boolean
---@field range integer
---@field line1 integer
---@field line2 integer
---@field smods table

---@class eca.Subcommand
---@field text string for the palette: short, for a call without an argument
---@field run fun(rest: string, call: eca.Call) with `bang` also for a `!` after the name
---@field choices? fun(lead: string, bang: boolean, before: string): string[] of its argument

---@param rest string
---@return string?
local function given(rest)
  return rest ~= '' and rest or nil
end

--- Runs an action, as its <Plug> does.
---@param name string
---@return fun()
local function action(name)
  return function()
    require('eca.keymaps.plugs').run(name)
  end
end

--- Run an action on whole chats, with its argument.
---@param name string
---@param argument any
local function manage(name, argument)
  require('eca.actions.manage')[name](argument)
end

--- Send a prompt, and scroll to the end so that the user sees the answer.
---@param text string
---@param opts eca.SendOptions
---@return boolean sent false: it may be the secret that the chat asks for
local function send(text, opts)
  local id = opts.chat or eca.current()
  local item, word = require('eca.state.input_mode').secret(id), scan.trim(text)
  if item and not word:find('%s') then
    if vim.fn.histget('cmd', -1):find(word, 1, true) then
      vim.fn.histdel('cmd', -1)
    end
    require('eca.input.secret').ask(item, word)
    return false
  end
  opts.chat = id
  eca.send(text, opts)
  require('eca.input').show_end(id)
  return true
end

---@param what 'model'|'agent'|'variant'
---@return eca.Subcommand
local function choice(what)
  return {
    text = 'choose the ' .. what,
    run = function(rest, call)
      require('eca.actions.options').choose(what, given(rest), call.bang)
    end,
    choices = function()
      return require('eca.actions.options').offers(what)
    end,
  }
end

--- The lines of a command's range.
---@param call eca.Call
---@return integer? first, integer? last
local function lines_of(call)
  if call.range > 0 then
    return call.line1, call.line2
  end
end

local function log()
  vim.cmd.split({ args = { host.log_path() }, magic = { file = false } })
  vim.cmd('normal! G')
  require('eca.window.to_code').uncover()
end

local TRUST = { on = true, off = false }

---@type table<string, eca.Subcommand>
M.subcommands = {
  toggle = { text = 'open or hide the chat', run = action('Toggle') },
  hide = { text = 'hide the chat', run = action('Hide') },
  new = { text = 'start a new chat', run = action('New') },
  chats = {
    text = 'choose a chat',
    run = function(rest)
      local number = tonumber(rest:match('^%d+')) -- its title may follow
      if number then
        manage('go_to', number)
      else
        require('eca.keymaps.plugs').run('Chats')
      end
    end,
    choices = function()
      return require('eca.commands.completion').chats()
    end,
  },
  resume = { text = 'resume an earlier chat', run = action('Resume') },
  rename = {
    text = 'rename the chat',
    run = function(rest)
      manage('rename', given(rest))
    end,
  },
  clear = {
    text = 'clear the chat',
    run = function(_, call)
      manage('clear', call.bang)
    end,
  },
  delete = {
    text = 'delete the chat',
    run = function(_, call)
      manage('delete', call.bang)
    end,
  },
  older = { text = 'load older messages', run = action('Older') },
  history = { text = 'go to a prompt or a flag', run = action('History') },
  rollback = { text = 'roll back to before a prompt', run = action('Rollback') },
  fork = { text = 'continue from here in a new chat', run = action('Fork') },
  flag = {
    text = 'set a flag here',
    run = function(rest, call)
      if call.bang then
        require('eca.actions.history').remove_flag()
      else
        require('eca.actions.history').add_flag(given(rest))
      end
    end,
  },
  stop = { text = 'stop the turn', run = action('Stop') },
  steer = {
    text = 'send a prompt into the running turn',
    run = function(rest)
      if given(rest) then
        send(rest, {})
      else
        action('Submit')()
      end
    end,
  },
  queue = {
    text = 'queue a prompt: send it when the turn ends',
    run = function(rest)
      if given(rest) then
        send(rest, { queue = true })
      else
        action('Queue')()
      end
    end,
  },
  unqueue = {
    text = 'take a queued prompt back to edit it',
    run = function(rest, call)
      require('eca.actions.prompts').take_back(tonumber(rest), call.bang)
    end,
    choices = function()
      local chat = require('eca.window').current_chat()
      return vim.tbl_map(
        tostring,
        vim.tbl_keys(chat and require('eca.state.mirror').queue(chat) or {})
      )
    end,
  },
  approve = {
    text = 'allow the pending request',
    run = function(rest, call)
      eca.approve({ id = given(rest), remember = call.bang or nil })
    end,
  },
  ['approve-all'] = {
    text = 'allow all pending requests of the chat that you have seen whole',
    run = function(_, call)
      local chat = not call.bang and require('eca.window').current_chat() or nil
      if require('eca.approval').accept_all(chat, true) == 0 then
        require('eca.ui.notify').info('no pending request')
      end
    end,
  },
  reject = {
    text = 'reject the pending request',
    run = function(rest)
      eca.reject({ reason = given(rest) })
    end,
  },
  choose = {
    text = 'answer the pending request by the number of a choice',
    run = function(rest)
      if given(rest) then
        eca.choose({ choice = rest })
      else
        require('eca.actions.approvals').choose()
      end
    end,
  },
  approval = { text = 'go to the pending request', run = action('Approval') },
  answer = {
    text = 'answer the question',
    run = function(rest)
      if given(rest) then
        eca.answer(rest)
      else
        require('eca.keymaps.plugs').run('Answer')
      end
    end,
  },
  diff = { text = 'show the whole diff in a tab page', run = action('Diff') },
  changes = {
    text = 'list what tools changed',
    run = function(rest)
      local act = vim.list_contains(checks.CHANGE_ACTS, rest) and rest or 'changes'
      require('eca.actions.review')[act](act == 'changes' and tonumber(rest) or nil)
    end,
    choices = function()
      return checks.CHANGE_ACTS
    end,
  },
  ['undo-turn'] = {
    text = "undo the last turn's changes to files",
    run = function(rest)
      require('eca.actions.review').undo(tonumber(rest))
    end,
  },
  files = { text = 'list the files that the agent has used', run = action('Files') },
  conflicts = { text = 'files changed on disk and in a buffer', run = action('Conflicts') },
  tasks = { text = "go to the agent's task list", run = action('Tasks') },
  usage = { text = 'show what fills the context window, and the cost', run = action('Usage') },
  add = {
    text = 'add this file to the context',
    run = function(rest, call)
      local act = call.bang and 'remove_named' or 'add_named'
      require('eca.actions.contexts')[act](given(rest), lines_of(call))
    end,
    choices = function(lead, bang)
      if bang then
        return require('eca.context.line').labels(eca.current())
      end
      return require('eca.commands.completion').contexts(lead)
    end,
  },
  paste = { text = 'put the image of the clipboard into the prompt', run = action('Paste') },
  contexts = {
    text = 'show or remove context',
    run = action('Contexts'),
  },
  model = choice('model'),
  agent = choice('agent'),
  variant = choice('variant'),
  options = {
    text = 'set other options of the chat',
    run = function(rest)
      require('eca.actions.options').set(rest)
    end,
    choices = function(_, _, before)
      return require('eca.actions.options').complete(before)
    end,
  },
  trust = {
    text = 'turn trust on or off: run tools without asking',
    run = function(rest)
      if rest ~= '' and TRUST[rest] == nil then -- a typo must not let anything run
        return require('eca.ui.notify').warn(("trust takes 'on' or 'off', not '%s'"):format(rest))
      end
      require('eca.actions.pickers').set_trust(TRUST[rest])
    end,
    choices = function()
      return vim.tbl_keys(TRUST)
    end,
  },
  log = { text = 'open the log', run = log },
  export = {
    text = 'show the chat as Markdown',
    run = function(rest, call)
      require('eca.chat.output').export(given(rest), call.bang)
    end,
    choices = function(lead)
      return vim.fn.getcompletion(lead, 'file')
    end,
  },
  grep = {
    text = 'search the whole chat',
    run = function(rest)
      require('eca.chat.search').run(rest)
    end,
  },
  template = {
    text = 'send a prompt from a template',
    run = function(rest, call)
      local name, more = rest:match('^(%S*)%s*(.*)$')
      local first, last = lines_of(call)
      local options = { edit = call.bang, first = first, last = last }
      if name == '' then
        require('eca.actions.templates').choose(options)
      else
        require('eca.actions.templates').use(name, more, options)
      end
    end,
    choices = function()
      return require('eca.state.templates').names()
    end,
  },
  prompts = { text = 'choose a prompt you sent before', run = action('Prompts') },
  install = {
    text = "build the plugin's Python environment",
    run = function()
      require('eca.commands.plugin').install()
    end,
  },
  health = {
    text = 'check the installation',
    run = function()
      vim.cmd.checkhealth('eca')
    end,
  },
  help = {
    text = 'open the help',
    run = function(rest)
      require('eca.commands.plugin').help(given(rest))
    end,
    choices = function()
      return require('eca.commands.plugin').topics()
    end,
  },
}

for name, subcommand in pairs(require('eca.commands.servers')) do
  M.subcommands[name] = subcommand
end

--- `:Eca {sub} [rest]`; without a name it opens the palette.
---@param call eca.Call
function M.run(call)
  local name, bang, rest = call.args:match('^([^%s!]*)(!?)(.*)$')
  rest = require('eca.text.scan').trim(rest)
  require('eca.view') -- joins the host with what draws
  if name == '' then
    require('eca.commands.palette').choose(M.subcommands)
    return
  end
  local found = checks.find(name, M.subcommands)
  if not found then
    require('eca.ui.notify').warn(checks.complaint(name, M.subcommands))
    return
  end
  call.bang = call.bang or bang == '!'
  local fault = checks.fault(name, call.bang, rest)
  if fault then
    require('eca.ui.notify').warn(fault)
  else
    found.run(rest, call)
  end
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
  if send(prompt, { chat = id }) then
    require('eca.input.history').add(id, prompt)
  end
end

return M
