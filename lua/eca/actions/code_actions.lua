--- Code actions: what can be done with the code at a place, as a list of ours and as actions of a
--- language client. All but the rewrite are templates, so users add theirs.
---
--- Rules kept here:
--- - A template fits a place if its text has a variable for it: `{{diagnostic}}` where something is
---   reported, `{{selection}}` everywhere. Without a selection that is the function or paragraph.
--- - The client is attached on option only, to files of text; it gets no text. Only who asks for
---   actions starts the host. A plugin that applies actions of some kind as a file is saved gets
---   none of these.
local choose = require('eca.ui.choose')
local config = require('eca.config')
local here = require('eca.context.here')
local host = require('eca.host')
local language_server = require('eca.editor.language_server')
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')
local places = require('eca.context.places')
local reports = require('eca.context.reports')
local return_window = require('eca.ui.return_window')
local rewrite = require('eca.actions.rewrite')
local sanitize = require('eca.ui.sanitize')
local templates = require('eca.state.templates')
local texts = require('eca.context.texts')

local M = {}

M.NAME = 'eca-actions'
--- Milliseconds that the host has to list the templates; then those that are known are offered.
M.PATIENCE = 1000
local RUN, INVOKED, AUTOMATIC = 'eca.run', 1, 2

---@class eca.CodePlace: eca.Lines the line of the cursor, or what is selected
---@field column integer 0-based
---@field selected boolean

---@class eca.CodeAction
---@field title string
---@field kind string of the protocol
---@field template? string nil: rewrite

--- The lines of a file that an action is about.
---@param place eca.CodePlace
---@return eca.Context
local function lines_of(place)
  local meant = place ---@type eca.Lines
  if not place.selected then
    meant = rewrite.meant_at(place.buf, { place.first, place.column })
  end
  return here.of_lines(place.buf, meant.first, meant.last)
end

--- What can be done in a place: with what is reported there first.
---@param place eca.CodePlace
---@return eca.CodeAction[]
local function fitting(place)
  local found, others_of = {}, {} ---@type eca.CodeAction[], eca.CodeAction[]
  local is_reported = #reports.reported(place) > 0
  for _, template in ipairs(templates.all()) do
    local needs_report = vim.list_contains(template.variables, 'diagnostic')
    local fits = vim.list_contains(template.variables, 'selection')
    local list = needs_report and found or others_of
    if needs_report and is_reported or fits and not needs_report then
      local text = template.description ~= '' and template.description or template.name
      local theirs = template.source == 'project' and '  (project)' or ''
      local title = sanitize.line(text) .. theirs
      list[#list + 1] = { title = title, kind = 'eca', template = template.name }
    end
  end
  vim.list_extend(found, others_of)
  if vim.bo[place.buf].modifiable then
    found[#found + 1] = { title = 'Rewrite this code …', kind = 'refactor.rewrite' }
  end
  return found
end

--- Do one of these in a place.
---@param action eca.CodeAction
---@param place eca.CodePlace
local function run(action, place)
  require('eca.view') -- joins the host with what draws
  if not vim.api.nvim_buf_is_loaded(place.buf) then
    return notify.warn('the buffer is gone')
  elseif action.template then
    require('eca.actions.templates').use_at(action.template, lines_of(place), place)
  else
    local range = place.selected and 2 or 0
    rewrite.run(nil, false, { range = range, line1 = place.first, line2 = place.last })
  end
end

---@param buf integer
---@return boolean
local function is_code(buf)
  return not vim.bo[buf].filetype:find('^eca%-')
end

--- Let the user choose what to do with the code under the cursor or the selection.
---@param first? integer of the lines meant
---@param last? integer
local function offer(first, last)
  local buf, cursor = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)
  if not is_code(buf) then
    return notify.warn('no code here: go to a window with a file')
  end
  local place = { buf = buf, first = first or cursor[1], last = last or cursor[1] }
  place.column, place.selected = cursor[2], first ~= nil
  local asked = return_window.asked()
  host.ask('list_templates', {}, function(worked)
    if not worked or not return_window.may_focus(asked, 'the list') then
      return
    end
    choose.one('eca', fitting(place), function(action)
      return action.title
    end, function(action)
      run(action, place)
    end)
  end)
end

--- Let the user choose what to do with the code under the cursor or the selection.
function M.choose()
  offer(places.selected_lines())
end

--- `:[range]Eca act`
---@param call eca.Call
function M.run(_, _, call)
  local ranged = call.range > 0
  offer(ranged and call.line1 or nil, ranged and call.line2 or nil)
end

-- The language client ----------------------------------------------------------------------------

--- Is a kind among those that are wanted?
---@param kind string
---@param only? string[]
---@return boolean
local function is_wanted(kind, only)
  return not only
    or vim.iter(only):any(function(wanted)
      return wanted == '' or vim.startswith(kind .. '.', wanted .. '.')
    end)
end

--- The place that a request is about.
---@param params table
---@return eca.CodePlace?
local function place_of(params)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do -- the function for a URI would open any file
    if vim.api.nvim_buf_is_loaded(buf) and vim.uri_from_bufnr(buf) == params.textDocument.uri then
      local from, to = params.range.start, params.range['end']
      local line = vim.api.nvim_buf_get_lines(buf, from.line, from.line + 1, false)[1] or ''
      local column = vim.fn.byteidx(line, from.character, true)
      local count = vim.api.nvim_buf_line_count(buf)
      local first = math.min(from.line + 1, count)
      local last = math.max(to.line + (to.character > 0 and 1 or 0), first)
      return {
        buf = buf,
        first = first,
        last = math.min(last, count),
        column = column < 0 and #line or column,
        selected = from.line ~= to.line or from.character ~= to.character,
      }
    end
  end
end

---@param params table
---@return table[]
local function actions_for(params)
  local place = place_of(params)
  local found = {} ---@type table[]
  for _, action in ipairs(place and fitting(place) or {}) do
    if is_wanted(action.kind, params.context.only) then
      local title = 'eca: ' .. action.title
      local command = { title = title, command = RUN, arguments = { action, place } }
      found[#found + 1] = { title = title, kind = action.kind, command = command }
    end
  end
  return found
end

---@type eca.ProtocolMethods
local METHODS = {
  ['textDocument/codeAction'] = function(params, reply)
    local context, is_answered = params.context or {}, false
    params.context = context
    local function answer()
      if not is_answered then
        is_answered = true
        reply(nil, context.triggerKind == AUTOMATIC and {} or actions_for(params))
      end
    end
    if context.triggerKind ~= INVOKED then -- a plugin that marks lines as the cursor moves
      return answer()
    end
    require('eca.view') -- joins the host with what draws
    host.ask('list_templates', {}, answer)
    vim.defer_fn(answer, M.PATIENCE)
  end,
  ['workspace/executeCommand'] = function(params, reply)
    reply(nil, vim.NIL)
    if params.command == RUN then
      run(unpack(params.arguments))
    end
  end,
}

local CAPABILITIES = {
  codeActionProvider = { codeActionKinds = { 'eca', 'refactor.rewrite' } },
  executeCommandProvider = { commands = { RUN } },
  positionEncoding = 'utf-16',
}

--- Is a buffer one of a file of text that is not too big?
---@param buf integer
---@return boolean
local function is_file(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  local is_text = vim.bo[buf].buftype == '' and not vim.bo[buf].binary
  return is_text
    and name ~= ''
    and not name:find('^%a[%w+.-]*:[\\/][\\/]')
    and is_code(buf)
    and vim.api.nvim_buf_get_offset(buf, vim.api.nvim_buf_line_count(buf)) <= texts.MOST_BYTES
end

--- Attach to a buffer, if the option says so. Called when one is shown (`plugin/eca.lua`).
---@param buf integer
function M.attach(buf)
  if not config.get().code_actions or not is_file(buf) then
    return
  end
  if #vim.lsp.get_clients({ bufnr = buf, name = M.NAME }) > 0 then
    return
  end
  others.call('LspAttach', vim.lsp.start, {
    name = M.NAME,
    cmd = language_server.command(M.NAME, CAPABILITIES, METHODS),
  }, { bufnr = buf, silent = true, reuse_client = language_server.is_named(M.NAME) })
  -- Neovim 0.10 detaches when the text is already gone, and shows an error. A client that was
  -- stopped meanwhile is not attached any more.
  local group = vim.api.nvim_create_augroup('eca.code_actions.detach', { clear = false })
  vim.api.nvim_clear_autocmds({ group = group, buffer = buf })
  vim.api.nvim_create_autocmd('BufUnload', {
    group = group,
    buffer = buf,
    once = true,
    callback = function()
      local is_ending = vim.v.exiting ~= vim.NIL -- then Neovim ends all clients
      local attached = is_ending and {} or vim.lsp.get_clients({ bufnr = buf, name = M.NAME })
      for _, client in ipairs(attached) do
        vim.lsp.buf_detach_client(buf, client.id)
      end
    end,
  })
end

return M
