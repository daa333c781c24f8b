--- The input: the buffer to type prompts in.
---
--- Rules kept here:
--- - Only sending removes what is typed.
--- - Queued prompts are virtual text above the draft.
--- - Sending never blocks, not even before the server is ready.
local answer_mode = require('eca.input.answer_mode')
local buffers = require('eca.chat.buffers')
local contexts = require('eca.context')
local drafts = require('eca.input.drafts')
local field = require('eca.input.field')
local follow_end = require('eca.window.follow_end')
local history = require('eca.input.history')
local host = require('eca.host')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local places = require('eca.context.places')
local sanitize = require('eca.ui.sanitize')
local scan = require('eca.text.scan')
local servers = require('eca.state.servers')
local sizes = require('eca.window.sizes')
local winbar = require('eca.window.winbar')
local windows = require('eca.window')

local M = {}

local QUEUE_MARK = 2
local QUEUE_SIGNS = { steer = '↳ ', queue = '⧗ ', note = '✎ ' }

--- Set up a buffer as a chat's input.
---@param buf integer
function M.attach(buf)
  vim.bo[buf].textwidth = 0
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'BufWinEnter' }, {
    buffer = buf,
    callback = function()
      field.changed(buf)
      if buffers.of_buffer(buf) then
        drafts.take_over(buf)
      end
    end,
  })
  vim.api.nvim_create_autocmd({ 'BufUnload', 'InsertLeave' }, {
    buffer = buf,
    callback = drafts.flush,
  })
  vim.api.nvim_create_autocmd({ 'TextChanged', 'InsertLeave' }, {
    buffer = buf,
    callback = function()
      local chat = buffers.of_buffer(buf)
      if chat and chat.edit then
        chat.edit.changed()
      end
    end,
  })
  vim.api.nvim_create_autocmd({ 'InsertEnter', 'InsertLeave' }, {
    buffer = buf,
    callback = function(event)
      field.draw_placeholder(buf, event.event == 'InsertEnter' and 'insert' or 'normal')
    end,
  })
end

--- Send the draft as a prompt, or as the answer to the pending question, and empty the input. An
--- empty draft is not sent, unless the question takes an empty answer. While the chat asks for a
--- secret, the user goes there instead of sending an empty draft or a word.
---@param chat eca.Chat
---@param text string the draft
---@param queue boolean send it after the running turn instead of steering the turn
---@return boolean sent false: nothing is typed
function M.submit(chat, text, queue)
  local question = not queue and chat.question
  local item, is_word = mirror.secret(chat.id), not scan.trim(text):find('%s')
  if item and (question and question.secret or not question and is_word) then
    if require('eca.input.secret').ask(item, scan.trim(text)) then -- late: most chats ask for none
      field.set_draft(chat.input, history.leave(chat.id))
    end
    return true
  elseif not text:find('%S') and not (question and question.empty) then
    return false
  elseif question then
    answer_mode.submit(chat, text)
    return true
  elseif chat.edit then
    chat.edit.submit()
    return true
  end
  M.send(chat.id, text, { queue = queue, typed = text })
  field.set_draft(chat.input, history.leave(chat.id))
  field.changed(chat.input)
  M.show_end(chat.id)
  return true
end

local offered = {} ---@type table<string, true> projects, by their root

---@class eca.InputSendOptions
---@field queue? boolean
---@field contexts? eca.Context[]
---@field server? string
---@field tokens_in? string the part of the text in which tokens name contexts; default: all of it
---@field typed? string what the user has typed for it, to be offered again

--- Send a prompt with its contexts.
---@param chat string
---@param text string
---@param opts eca.InputSendOptions
function M.send(chat, text, opts)
  if opts.typed then
    history.add(opts.typed)
  end
  host.send('prompt', {
    chat = chat,
    text = text,
    contexts = contexts.collect(chat, opts.tokens_in or text, opts.contexts),
    queue = opts.queue or false,
    server = servers.unless_default(opts.server or mirror.server_name(chat)),
    typed = opts.typed,
  })
  -- Say, once, how the project that the user works in becomes part of the workspace.
  local root = places.other_project()
  if root and not offered[root] then
    offered[root] = true
    local name = sanitize.line(vim.fs.basename(root))
    notify.info((':Eca folder add lets the agents work in %s, too'):format(name))
  end
end

--- Scroll the visible transcript of a chat to its end, so that the user sees the answer.
---@param chat string
function M.show_end(chat)
  local transcript = windows.shown()
  if transcript and windows.chat_shown() == chat then
    follow_end.go_to_end(transcript)
    winbar.refresh_window(transcript)
  end
end

--- Replace the draft by an older or newer prompt.
---@param chat eca.Chat whose input is the current buffer
---@param step -1|1 older or newer
function M.recall(chat, step)
  local buf = chat.input
  local text = history.step(chat.id, step, field.draft(buf))
  if not text then
    return
  end
  field.set_draft(buf, text)
  field.changed(buf)
  local last = vim.api.nvim_buf_line_count(buf)
  vim.api.nvim_win_set_cursor(0, { last, #vim.fn.getline(last) })
end

--- Show the queued prompts above the draft. If there are several, each has its number for
--- `:Eca unqueue`.
---@param buf integer
---@param prompts [string, string][]
function M.show_queue(buf, prompts)
  vim.api.nvim_buf_del_extmark(buf, field.namespace, QUEUE_MARK)
  local lines = {} ---@type [string, string][][]
  for index, prompt in ipairs(prompts) do
    local number = #prompts > 1 and ('%d '):format(index) or '  '
    local text = (QUEUE_SIGNS[prompt[1]] or '') .. prompt[2]:gsub('%s+', ' ')
    lines[index] = { { number .. text, 'EcaQueued' } }
  end
  if #prompts > 0 then
    vim.api.nvim_buf_set_extmark(buf, field.namespace, 0, 0, {
      id = QUEUE_MARK,
      virt_lines = lines,
      virt_lines_above = true,
      virt_lines_leftcol = true,
      right_gravity = false,
    })
  end
  windows.fit_input(buf)
  sizes.reveal_queue(buf)
end

vim.api.nvim_create_autocmd('User', { -- the placeholder names keys, which are mapped by then
  group = vim.api.nvim_create_augroup('eca.input', {}),
  pattern = 'eca.buffer',
  callback = function(event)
    if event.data.kind == 'input' then
      field.draw_placeholder(event.data.buf, 'normal')
    end
  end,
})

return M
