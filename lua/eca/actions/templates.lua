--- Actions on templates: choose one, ask what it wants to know, send it.
---
--- Rules kept here:
--- - The host reads and expands templates. Here their values are collected: what is selected, the
---   file, the diff, the diagnostics, the answers. Nothing is read before the template is used. If
---   there is nothing to read, the reason is a message; only diagnostics may be missing.
--- - A project's template is shown whole before it is used the first time, with all that it sends;
---   later, too, if that is outside of the workspace. What was listed is sent, nothing else.
--- - Nothing is sent before all questions are answered; a draft stays in the input until then.
local chats = require('eca.chat.buffers')
local choose = require('eca.ui.choose')
local eca = require('eca')
local field = require('eca.input.field')
local here = require('eca.context.here')
local history = require('eca.input.history')
local host = require('eca.host')
local input = require('eca.input')
local notify = require('eca.ui.notify')
local panel = require('eca.ui.panel')
local paths = require('eca.files.paths')
local places = require('eca.context.places')
local reports = require('eca.context.reports')
local return_window = require('eca.ui.return_window')
local sanitize = require('eca.ui.sanitize')
local scan = require('eca.text.scan')
local stated = require('eca.context.stated')
local templates = require('eca.state.templates')
local texts = require('eca.context.texts')
local tokens = require('eca.context.tokens')

local M = {}

---@class eca.TemplateUse
---@field chat string
---@field template string its name
---@field rest string what was typed after the name
---@field edit boolean put the prompt into the input instead of sending it
---@field queue boolean
---@field typed? string the draft, if it was typed there
---@field selection? eca.Context lines of the command's range
---@field reported? eca.Lines whose diagnostics are meant; default: the line of the cursor
---@field asked? eca.Asked when the user asked for it
---@field take? fun(text: string) takes the prompt, which is not sent then

---@class eca.PreparedTemplate
---@field command? boolean `/name` is a command of the agent
---@field digest string
---@field kinds string[] of variables
---@field questions string[]

---@class eca.TemplatePrompt
---@field text string
---@field own string the part of it in which tokens name contexts
---@field title? string only of a project's template on which the user has not decided
---@field lines? string[] the template
---@field seen? boolean the user has seen it before

-- The values of its variables ---------------------------------------------------------------------

---@class eca.TemplateValue
---@field content string
---@field label string
---@field language string

---@alias eca.TakeValue fun(value?: eca.TemplateValue, fault?: string) fault: why there is none

---@param read eca.ReadText
---@param language? string
---@return eca.TemplateValue
local function value(read, language)
  local cut = read.cut and (' (%s)'):format(read.cut) or ''
  return { content = read.content, label = read.label .. cut, language = language or '' }
end

--- The lines that were named, else what is selected.
---@param given? eca.Context
---@return eca.TemplateValue? value
---@return string? fault
local function selected(given)
  local place = places.selection()
  local buf = place and place.buf
  local read, fault ---@type eca.ReadText?, string?
  if given and given.first then
    buf = given.buf or assert(paths.buffer_of(given.path))
    local named = { type = 'buffer', buf = buf, first = given.first, last = given.last }
    read, fault = texts.read(named)
    read.label = ('%s:%d-%d'):format(read.label, given.first, given.last)
  else
    read, fault = texts.selection()
  end
  return read and value(read, vim.bo[buf].filetype), fault
end

---@type table<string, fun(given: eca.Context?, take: eca.TakeValue, reported: eca.Lines?)>
local readers = {
  selection = function(given, take)
    take(selected(given))
  end,
  file = function(given, take)
    local _, path = places.last()
    path = given and given.path or path
    local token = path and tokens.write({ type = 'file', path = path })
    take(token and value({ label = '', content = token }), 'there is no file in a code window')
  end,
  diff = function(_, take)
    reports.read_diff(function(read, fault)
      take(read and value(read, 'diff'), fault)
    end)
  end,
  diagnostics = function(_, take)
    local read = reports.read_diagnostics()
    take(read and value(read))
  end,
  diagnostic = function(_, take, reported)
    local read, fault = reports.read_reported(reported or places.lines())
    take(read and value(read), fault)
  end,
}

--- Collect values, one after the other. A message says which one is missing; nothing follows then.
---@param kinds string[] of variables
---@param use eca.TemplateUse
---@param done fun(values: table<string, eca.TemplateValue>)
local function collect(kinds, use, done)
  local values = {} ---@type table<string, eca.TemplateValue>
  ---@param index integer
  local function read(index)
    local kind = kinds[index]
    if not kind then
      return done(values)
    end
    readers[kind](use.selection, function(found, fault)
      values[kind] = found
      if not found and fault then
        notify.warn(fault)
      else
        read(index + 1)
      end
    end, use.reported)
  end
  read(1)
end

-- Asking and sending -----------------------------------------------------------------------------

--- Answers to questions of a template that was cancelled, by question.
local unsent = {} ---@type table<string, string>

--- Put the prompt where it belongs, and take the draft that asked for it away.
---@param use eca.TemplateUse
---@param prompt eca.TemplatePrompt
---@param contexts? eca.Context[] what is sent with it; default: what its own text names
local function finish(use, prompt, contexts)
  if use.take then
    return use.take(prompt.text)
  end
  local buf = chats.ensure(use.chat).input
  if use.typed and field.draft(buf) == use.typed then
    field.set_draft(buf, history.leave(use.chat))
    field.changed(buf)
  end
  if use.edit then
    return field.put_back(buf, prompt.text)
  end
  input.send(use.chat, prompt.text, {
    queue = use.queue,
    tokens_in = contexts and '' or prompt.own,
    contexts = contexts,
    typed = use.typed or scan.trim(('/%s %s'):format(use.template, use.rest)),
  })
  input.show_end(use.chat)
end

--- Show a project's template whole, with what would be sent, and let the user decide.
---@param use eca.TemplateUse
---@param prompt eca.TemplatePrompt
---@param sent eca.SentContexts
---@param decided fun()
local function show(use, prompt, sent, decided)
  local shown ---@type eca.PanelHandle
  ---@param edit boolean
  local function go_on(edit)
    shown.close()
    use.edit = edit
    decided()
  end
  local rows = vim.list_extend({}, sent.rows)
  for _, line in ipairs(prompt.lines) do
    rows[#rows + 1] = { { line, '' } }
  end
  shown = panel.show({
    title = prompt.title,
    rows = rows,
    keys = { { 's', 'send' }, { 'e', 'edit in the input' }, { 'q', 'cancel' } },
    actions = {
      s = function()
        go_on(false)
      end,
      e = function()
        go_on(true)
      end,
    },
    unread = function(count)
      notify.warn(('scroll through it first: %d more rows of it follow'):format(count))
    end,
  })
end

---@param use eca.TemplateUse
---@param prepared eca.PreparedTemplate
---@param answers string[]
local function fill(use, prepared, answers)
  collect(prepared.kinds, use, function(found)
    ---@param decided boolean
    ---@param on_prompt fun(prompt: eca.TemplatePrompt)
    local function prompt_of(decided, on_prompt)
      host.ask('expand_template', {
        chat = use.chat,
        template = use.template,
        digest = prepared.digest,
        rest = use.rest,
        values = next(found) and found or vim.empty_dict(),
        answers = answers,
        decided = decided,
      }, function(prompt)
        if prompt then
          on_prompt(prompt)
        end
      end)
    end
    prompt_of(false, function(prompt)
      if not prompt.lines then
        return finish(use, prompt)
      end
      local sent = stated.of(prompt.own)
      local function go_on()
        prompt_of(true, function(again)
          finish(use, again, sent.contexts)
        end)
      end
      if prompt.seen and not sent.leads_out then
        go_on()
      elseif return_window.may_focus(use.asked, 'the template') then
        show(use, prompt, sent, go_on)
      end
    end)
  end)
end

--- Ask the questions from one on. One that is cancelled ends it; the answers to those before are
--- offered the next time.
---@param use eca.TemplateUse
---@param prepared eca.PreparedTemplate
---@param answers string[] to the questions before
local function ask(use, prepared, answers)
  local question = prepared.questions[#answers + 1]
  if not question then
    unsent = {}
    return fill(use, prepared, answers)
  end
  local options = { prompt = sanitize.line(question) .. ' ', default = unsent[question] }
  choose.line(options, function(answer)
    if answer then
      unsent[question], use.asked = answer, return_window.asked()
      answers[#answers + 1] = answer
      ask(use, prepared, answers)
    end
  end)
end

---@param use eca.TemplateUse
---@param on_command? fun() called if the agent has a command of this name
local function start(use, on_command)
  use.asked = return_window.asked()
  host.ask('prepare_template', {
    chat = use.chat,
    template = use.template,
    rest = use.rest,
    typed = use.typed ~= nil,
  }, function(prepared)
    if not prepared then
      return
    elseif prepared.command then
      return on_command and on_command()
    end
    if #prepared.questions == 0 or return_window.may_focus(use.asked, 'the template') then
      ask(use, prepared, {})
    end
  end)
end

--- Use a template in the current chat, which is opened.
---@param name string
---@param rest string what follows the name
---@param edit boolean
---@param selection? eca.Context
---@param reported? eca.Lines
local function use(name, rest, edit, selection, reported)
  local chat = eca.open()
  start({
    chat = chat,
    template = name,
    rest = rest,
    edit = edit,
    queue = false,
    selection = selection,
    reported = reported,
  })
end

--- Use a template for a place in code.
---@param name string
---@param selection eca.Context
---@param reported eca.Lines
function M.use_at(name, selection, reported)
  use(name, '', false, selection, reported)
end

--- Fill in a template for what is no prompt of a chat.
---@param name string
---@param selection eca.Context
---@param take fun(text: string)
function M.fill_in(name, selection, take)
  local chat = eca.current()
  local filled = { chat = chat, template = name, rest = '', edit = false, queue = false }
  filled.selection, filled.take = selection, take
  start(filled --[[@as eca.TemplateUse]])
end

--- Use a template, which the user chooses from a list if none is named.
---@param text? string its name, and what follows
---@param edit boolean put the prompt into the input
---@param call eca.Call whose range are lines of the current buffer
function M.run(text, edit, call)
  local selection = call.range > 0 and here.of_lines(0, call.line1, call.line2) or nil
  if text then
    local name, rest = text:match('^(%S+)%s*(.*)$')
    return use(name, rest, edit, selection)
  end
  local asked = return_window.asked()
  host.ask('list_templates', {}, function(worked)
    if not worked or not return_window.may_focus(asked, 'the list') then
      return
    end
    choose.one('Templates', templates.all(), function(template)
      local source = template.source ~= 'built in' and ('  (%s)'):format(template.source) or ''
      local description = template.description ~= '' and '  ' .. template.description or ''
      return sanitize.line(template.name .. description .. source)
    end, function(template)
      use(template.name, '', edit, selection)
    end)
  end)
end

--- Fill in the template that the draft of a chat names, if it is `/name …`.
---@param chat eca.Chat
---@param draft string
---@param queue boolean
---@param send fun() called if there is none, or if the agent has a command of this name
function M.submit(chat, draft, queue, send)
  local name, rest = draft:match('^/(%S+)%s*(.*)$')
  local is_prompt = queue or not chat.question
  if not name or not is_prompt or not vim.list_contains(templates.names(), name) then
    return send()
  end
  start({
    chat = chat.id,
    template = name,
    rest = scan.trim(rest),
    edit = chat.edit ~= nil,
    queue = queue,
    typed = draft,
  }, function()
    if field.draft(chat.input) == draft then
      send()
    end
  end)
end

return M
