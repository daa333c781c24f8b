--- Actions on contexts: add, list, remove.
local chats = require('eca.chat.buffers')
local choose = require('eca.ui.choose')
local contexts = require('eca.context')
local eca = require('eca')
local field = require('eca.input.field')
local here = require('eca.context.here')
local host = require('eca.host')
local notify = require('eca.ui.notify')
local places = require('eca.context.places')
local texts = require('eca.context.texts')
local tokens = require('eca.context.tokens')

local M = {}

--- What is meant in the current window; a message says why nothing is.
---@param first? integer
---@param last? integer
---@return eca.Context[]
function M.meant_here(first, last)
  local items, fault = here.items(first, last)
  if fault then
    notify.info(fault)
  end
  return items
end

--- Add what is named: a file, some of its lines, a folder, a web page; without a name, what is
--- meant in the current window.
---@param name? string
---@param first? integer
---@param last? integer
local function add(name, first, last)
  if not name then
    vim.tbl_map(eca.add_context, M.meant_here(first, last))
    return
  end
  local item = tokens.named(name)
  if item then
    eca.add_context(item)
  else
    notify.warn('not found: ' .. name)
  end
end

--- Remove what is named from the context line; without a name, what is meant in the current window.
---@param name? string as on the line, or a path
---@param first? integer
---@param last? integer
local function remove(name, first, last)
  for _, what in ipairs(name and { name } or M.meant_here(first, last)) do
    if not eca.remove_context(what) then
      notify.warn(('%s is not on the context line'):format(name or contexts.label(what)))
    end
  end
end

--- Add what is meant in the current window: its file, the selected lines, an entry of a list.
function M.add()
  add(nil, places.selected_lines())
end

--- `:[range]Eca add[!] [name]`
---@param name? string
---@param removes boolean
---@param call eca.Call
function M.run(name, removes, call)
  local act, ranged = removes and remove or add, call.range > 0
  act(name, ranged and call.line1 or nil, ranged and call.line2 or nil)
end

local ABOUT_COMMAND = 'What went wrong here, and what can be done about it?'

--- The lines of the last command of a terminal that has printed something: from its prompt, where
--- the shell marks it (OSC 133, Neovim 0.11 and newer), else the end.
---@param buf integer
---@return integer first, integer last
local function command_lines(buf)
  local namespace = vim.api.nvim_get_namespaces()['nvim.terminal.prompt']
  local first, last = texts.tail(buf, texts.TAIL)
  local marks = namespace and vim.api.nvim_buf_get_extmarks(buf, namespace, -1, 0, {}) or {}
  local last_prompt, command = marks[1], marks[2]
  if not last_prompt or last_prompt[2] >= last then
    return first, last
  elseif last - last_prompt[2] > 1 then -- it still runs, or waits for no key
    return last_prompt[2] + 1, last
  elseif command then
    return command[2] + 1, last_prompt[2]
  end
  return first, last
end

--- Ask about the last command of the current terminal: its output is named in the draft, below a
--- question if the draft is empty.
function M.ask_about_command()
  local buf = vim.api.nvim_get_current_buf()
  if vim.bo[buf].buftype ~= 'terminal' or vim.bo[buf].filetype:find('^eca%-') then
    return notify.info('this is for the normal mode of a terminal')
  end
  local first, last = command_lines(buf)
  local chat = eca.open()
  local input = chats.ensure(chat).input
  if not field.draft(input):find('%S') then
    field.set_draft(input, ABOUT_COMMAND)
  end
  field.put_below(input, { { type = 'buffer', buf = buf, first = first, last = last } })
end

--- Put the image of the clipboard into the draft, as a token at the cursor.
function M.paste()
  local chat = eca.current()
  host.ask('paste_image', {}, function(answer)
    if answer and answer.path then
      local known = chats.restored(chat) or chats.ensure(eca.current())
      field.insert(known.input, '@' .. answer.path)
    elseif answer then
      notify.warn('no image pasted: ' .. answer.fault)
    end
  end)
end

--- Remove a token from the draft, wherever it is.
---@param buf integer
---@param token string
local function delete_token(buf, token)
  for row, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, false)) do
    for place in vim.iter(tokens.find(line)):rev() do
      if place.context.token == token then
        local blank = line:sub(place.last + 1, place.last + 1) == ' ' and 1 or 0
        vim.api.nvim_buf_set_text(buf, row - 1, place.first - 1, row - 1, place.last + blank, {})
      end
    end
  end
end

--- List the contexts that are sent with a prompt; the chosen one is removed.
function M.choose()
  local chat = eca.current()
  local all = contexts.sources(chat, field.of_chat(chat))
  if #all == 0 then
    return notify.info('no contexts')
  end
  choose.one('Sent with each prompt; choose one to remove', all, function(source)
    local origin = source.entry and '' or (source.item.token and '  in the prompt' or '  always')
    return contexts.label(source.item) .. origin
  end, function(source)
    if source.entry then
      eca.remove_context(source.entry, chat)
    elseif source.item.token then
      delete_token(chats.ensure(chat).input, source.item.token)
    else
      notify.info('@cursor is sent unless the option contexts.cursor is false')
    end
  end)
end

return M
