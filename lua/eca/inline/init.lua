--- Inline completion: when the user stops typing, an agent is asked what it would insert, and that
--- is drawn at the cursor (`ghost`).
---
--- Rules kept here:
--- - It is off unless an option or `b:eca_inline` turns it on. `:Eca complete` asks once in any
---   case.
--- - A key never waits: it stops a clock and starts it again. The buffer is read when that ends.
--- - One request at a time; it is cancelled as soon as text or cursor change.
--- - What must not be sent is not: buffers without a file, read-only and huge ones are refused
---   here, before anything is read; the rest by the host, which knows the workspace.
--- - Each user's first insert loads this file: the host's side is loaded with the first pause.
--- - What a server cannot do is said once; then nothing is asked until a server has started.
local config = require('eca.config')
local ghost = require('eca.inline.ghost')
local notify = require('eca.ui.notify')

local M = {}

--- Milliseconds without a key after which an agent is asked.
M.PAUSE = 250
--- Largest buffer that is sent, as other texts (`eca.context.texts`).
M.MOST_BYTES = 256 * 1024
local OFF = '%s: inline completion is off'

--- Where and when was asked: the answer is for nothing else.
---@class eca.InlinePlace
---@field buf integer
---@field tick integer
---@field row integer
---@field column integer

local group ---@type integer? of the autocommands in insert mode
local timer ---@type uv.uv_timer_t?
local place ---@type eca.InlinePlace? that waits for the pause or for an answer
local is_asked = false
local off ---@type string? why no server is asked
local refused = {} ---@type table<integer, true> buffers whose files must not be sent
local join ---@type fun() joins the host with what draws

--- Is it on in a buffer?
---@param buf integer
---@return boolean
function M.is_on(buf)
  local setting = config.get().completion
  local own = vim.b[buf].eca_inline
  if not setting or type(own) == 'boolean' then
    return setting ~= false and own == true
  end
  local inline = type(setting) == 'table' and setting.inline or false
  if type(inline) ~= 'table' then
    return inline
  end
  local here = inline[vim.bo[buf].filetype]
  if here == nil then
    here = inline['*']
  end
  return here == true
end

--- Why the text of a buffer is never sent.
---@param buf integer
---@return string?
function M.fault_of(buf)
  local options, name = vim.bo[buf], vim.api.nvim_buf_get_name(buf)
  if options.buftype ~= '' or name:find('^%a[%w+.-]*:[\\/][\\/]') or options.binary then
    return 'only files of text are completed'
  elseif name == '' then
    return 'a buffer without a file is not completed: save it first'
  elseif options.readonly or not options.modifiable then
    return 'a read-only buffer is not completed'
  end
  local bytes = vim.api.nvim_buf_get_offset(buf, vim.api.nvim_buf_line_count(buf))
  if bytes > M.MOST_BYTES then
    return ('a buffer over %d KiB is not completed'):format(M.MOST_BYTES / 1024)
  end
end

---@return eca.InlinePlace
local function here()
  local buf = vim.api.nvim_get_current_buf()
  local row, column = ghost.cursor()
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  return { buf = buf, tick = tick, row = row, column = column }
end

---@return boolean
local function is_inserting()
  return vim.api.nvim_get_mode().mode:find('^i') ~= nil and vim.fn.getcmdwintype() == ''
end

--- Does the user go through the items of a menu?
---@return boolean
local function is_selecting()
  return vim.fn.pumvisible() == 1 and vim.fn.complete_info({ 'selected' }).selected >= 0
end

--- Is a menu of Neovim or of another plugin open? Then its keys are its own.
---@return boolean
function M.is_menu_open()
  local cmp, blink = package.loaded['cmp'], package.loaded['blink.cmp']
  local ask_blink = type(blink) == 'table' and (blink.is_menu_visible or blink.is_visible)
  local of_blink, blink_is_open = pcall(ask_blink)
  local of_cmp, cmp_is_open = pcall(type(cmp) == 'table' and cmp.visible)
  return (of_blink and blink_is_open) or (of_cmp and cmp_is_open) or vim.fn.pumvisible() == 1
end

--- Stop what waits, also in the host.
local function cancel()
  if timer then
    timer:stop()
  end
  place = nil
  if is_asked then
    is_asked = false
    require('eca.host').send_if_running('cancel_code', vim.empty_dict())
  end
end

--- Note why there is no answer.
---@param answer { fault: string, about: 'file'|'server' }
---@param buf integer
---@param by_user boolean
local function refuse(answer, buf, by_user)
  if by_user then
    ghost.tell(answer.fault)
  elseif answer.about == 'file' then
    refused[buf] = true
  elseif not off then
    off = answer.fault
    notify.warn(OFF:format(off))
  end
end

--- Show an answer, if it is for what is at the cursor now.
---@param asked eca.InlinePlace
---@param answer? table nil: it was cancelled, or has failed
---@param by_user boolean
local function received(asked, answer, by_user)
  if place ~= asked then
    return
  end
  place, is_asked = nil, false
  if not is_inserting() or not vim.deep_equal(asked, here()) then
    return
  elseif answer and answer.fault then
    refuse(answer, asked.buf, by_user)
  elseif answer and answer.text ~= '' then
    off = nil
    ghost.show(answer.text)
  elseif by_user then
    ghost.tell(answer and 'nothing completes this' or 'no answer: see :Eca log')
  end
end

--- The text of a buffer; nil if it has NULs, which no text has.
---@param buf integer
---@return string?
local function text_of(buf)
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, true)
  for _, line in ipairs(lines) do
    if line:find('\n', 1, true) then
      return nil
    end
  end
  return table.concat(lines, '\n') .. (vim.bo[buf].endofline and '\n' or '')
end

--- Ask what completes the text at the cursor.
---@param by_user boolean
local function ask(by_user)
  local buf = vim.api.nvim_get_current_buf()
  local fault = M.fault_of(buf)
  local text = not fault and text_of(buf) or nil
  if not text then
    if by_user then
      ghost.tell(fault or 'only files of text are completed')
    end
    return
  end
  local asked = here()
  local row, column, line = ghost.cursor()
  place, is_asked = asked, true
  join()
  require('eca.host').ask('complete_code', {
    path = vim.api.nvim_buf_get_name(buf),
    text = text,
    version = asked.tick,
    line = row + 1,
    character = vim.fn.strutf16len(line:sub(1, column), true) + 1,
    asked = by_user,
  }, function(answer)
    received(asked, answer, by_user)
  end)
end

--- The pause is over.
local function paused()
  local is_here = place ~= nil and is_inserting() and vim.deep_equal(place, here())
  local is_macro = vim.fn.reg_recording() ~= '' or vim.fn.reg_executing() ~= ''
  if not is_here or is_macro or is_selecting() or require('eca.host').has_failed() then
    place = nil
  else
    ask(false)
  end
end

--- Called with each key that changes text or cursor.
---@param event { event: string }
local function changed(event)
  if ghost.go_on() or (place and vim.deep_equal(place, here())) then
    return
  end
  cancel()
  local buf = vim.api.nvim_get_current_buf()
  if event.event == 'CursorMovedI' or off or refused[buf] or not M.is_on(buf) then
    return
  end
  place = here()
  timer = timer or assert(vim.uv.new_timer())
  timer:start(M.PAUSE, 0, vim.schedule_wrap(paused))
end

--- Remove what is drawn, and ask nothing until the text changes.
function M.dismiss()
  cancel()
  ghost.clear()
end

--- Called when the user leaves insert mode or the buffer.
local function leave()
  M.dismiss()
  refused = {}
  if group then
    vim.api.nvim_clear_autocmds({ group = group })
    group = nil
  end
end

--- Watch the current buffer as long as the user inserts text there.
---@param joining fun() joins the host with what draws
local function watch(joining)
  join = joining
  group = vim.api.nvim_create_augroup('eca.inline', {})
  local buf = vim.api.nvim_get_current_buf()
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = buf, callback = callback })
  end
  on({ 'TextChangedI', 'TextChangedP', 'CursorMovedI' }, changed)
  on({ 'InsertLeave', 'BufLeave', 'BufUnload' }, leave)
  vim.api.nvim_create_autocmd('User', {
    group = vim.api.nvim_create_augroup('eca.inline.server', {}),
    pattern = 'EcaServerReady',
    callback = function()
      off = nil
    end,
  })
end

--- Called when the user begins to insert text.
---@param joining fun() joins the host with what draws
function M.enter(joining)
  local buf = vim.api.nvim_get_current_buf()
  if M.is_on(buf) and not M.fault_of(buf) then
    watch(joining)
  end
end

--- Ask now, because the user wants it. In insert mode only.
---@param joining fun() joins the host with what draws
function M.ask(joining)
  M.dismiss()
  if is_inserting() then
    watch(joining)
    ask(true)
  end
end

--- What can be accepted at the cursor.
---@return string?
function M.offered()
  return is_inserting() and ghost.rest() or nil
end

--- Other plugins that draw such a text, as far as they are loaded.
---@return string[]
function M.rivals()
  local found = {} ---@type string[]
  local globals = { loaded_copilot = 'copilot.vim', loaded_codeium = 'codeium.vim' }
  globals.loaded_windsurf, globals.loaded_llama = 'windsurf.vim', 'llama.vim'
  globals.loaded_augment, globals.loaded_supermaven = 'augment.vim', 'supermaven-nvim'
  for name, plugin in pairs(globals) do
    found[#found + 1] = vim.g[name] ~= nil and plugin or nil
  end
  local modules = { ['copilot.suggestion'] = 'copilot.lua', ['minuet.virtualtext'] = 'minuet-ai' }
  modules['supermaven-nvim.completion_preview'] = 'supermaven-nvim'
  modules['codeium.virtual_text'], modules['tabnine.completion'] = 'windsurf.nvim', 'tabnine-nvim'
  for name, plugin in pairs(modules) do
    found[#found + 1] = package.loaded[name] and plugin or nil
  end
  local blink, cmp = package.loaded['blink.cmp.config'], package.loaded['cmp.config']
  local of_blink, on_in_blink =
    pcall(vim.tbl_get, blink or {}, 'completion', 'ghost_text', 'enabled')
  local of_cmp, on_in_cmp = pcall(function()
    return cmp and cmp.get().experimental.ghost_text
  end)
  found[#found + 1] = of_blink and on_in_blink == true and 'the ghost text of blink.cmp' or nil
  found[#found + 1] = of_cmp and on_in_cmp and 'the ghost text of nvim-cmp' or nil
  local own = vim.lsp.inline_completion
  if own and own.is_enabled() then
    found[#found + 1] = 'vim.lsp.inline_completion'
  end
  table.sort(found)
  return found
end

return M
