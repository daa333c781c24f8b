--- The buffer to type prompts in.
---
--- Rules kept here:
--- - What is typed is the user's: nothing is taken away but by sending it, and what comes back goes
---   above a draft that is there.
--- - The placeholder and the waiting prompts are virtual text; the buffer holds the draft alone.
---   While a login runs it holds what that asks for (`login`), which is not read here.
--- - Sending never waits, for a server neither.
local M = {}

local namespace = vim.api.nvim_create_namespace('eca.input')

local PLACEHOLDERS = {
  insert = 'type here · <C-s> sends',
  normal = 'type here with i · <CR> sends · g? keys',
  answer = 'your own words · <C-s> answers',
  login = 'for the login, never shown nor kept · <C-s> sends',
}
local PLACEHOLDER_MARK, QUEUE_MARK = 1, 2
local QUEUE_SIGNS = { steer = '↳ ', queue = '⧗ ' }

--- What is typed and not sent, as a prompt.
---@param buf integer
---@return string
function M.draft(buf)
  local chat = require('eca.state.chats').of_buffer(buf)
  local set_aside = chat and require('eca.input.login').set_aside(chat.id)
  return set_aside or table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
end

--- Type something else.
---@param buf integer
---@param text string
function M.set_draft(buf, text)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(text, '\n', { plain = true }))
end

--- Rows the input's window should have, its winbar included.
---@param buf integer
---@param win? integer
---@return integer
function M.height(buf, win)
  local limits = require('eca.config').get().input
  local rows = vim.api.nvim_buf_line_count(buf)
  if win then
    rows = vim.api.nvim_win_text_height(win, {}).all
  end
  return math.max(limits.min, math.min(limits.max, rows)) + 1
end

--- Give the windows of an input the height its text asks for.
---@param buf integer
local function fit_windows(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    require('eca.window').ask_rows(win, M.height(buf, win))
  end
end

--- A window has another size: rows stay empty under its text only where all of it is in sight.
--- Neovim scrolls to keep the cursor seen in a small window, and never back.
---@param win integer
function M.fill(win)
  local room = vim.api.nvim_win_get_height(win) - 1
  local topline = vim.fn.line('w0', win)
  local top = topline
  while top > 1 and vim.api.nvim_win_text_height(win, { start_row = top - 2 }).all <= room do
    top = top - 1
  end
  if top == 1 and topline > 1 then
    M.reveal_queue(vim.api.nvim_win_get_buf(win))
  elseif top < topline then
    vim.api.nvim_win_call(win, function()
      vim.fn.winrestview({ topline = top })
    end)
  end
end

---@param buf integer
---@param mode 'insert'|'normal'
---@return string
local function placeholder(buf, mode)
  local chat = require('eca.state.chats').of_buffer(buf)
  if chat and require('eca.input.login').runs(chat.id) then
    return PLACEHOLDERS.login
  end
  return PLACEHOLDERS[chat and require('eca.approval.answer_mode').of(chat.id) and 'answer' or mode]
end

---@param buf integer
---@param mode 'insert'|'normal'
local function draw_placeholder(buf, mode)
  local first = vim.api.nvim_buf_get_lines(buf, 0, 1, false)[1]
  if first ~= '' or vim.api.nvim_buf_line_count(buf) > 1 then
    vim.api.nvim_buf_del_extmark(buf, namespace, PLACEHOLDER_MARK)
    return
  end
  vim.api.nvim_buf_set_extmark(buf, namespace, 0, 0, {
    id = PLACEHOLDER_MARK,
    virt_text = { { placeholder(buf, mode), 'EcaPlaceholder' } },
    virt_text_pos = 'overlay',
  })
end

---@param buf integer
local function changed(buf)
  local typing = vim.api.nvim_get_current_buf() == buf and vim.api.nvim_get_mode().mode == 'i'
  draw_placeholder(buf, typing and 'insert' or 'normal')
  fit_windows(buf)
  local chat = require('eca.state.chats').of_buffer(buf)
  if chat then
    require('eca.window.winbar').refresh(chat.id)
    require('eca.input.drafts').take_over(buf)
  end
end

--- Begin to type in a chat's input, if the user is there and does nothing else.
---@param chat string
function M.start_insert(chat)
  local known = require('eca.state.chats').get(chat)
  local is_here = known and known.input == vim.api.nvim_get_current_buf()
  if is_here and vim.api.nvim_get_mode().mode == 'n' then
    vim.cmd.startinsert({ bang = true })
  end
end

--- Show what the input is for now: prompts, the answer to a question, or a login.
---@param buf integer
function M.redress(buf)
  vim.tbl_map(require('eca.window.options').sign, vim.fn.win_findbuf(buf))
  changed(buf)
end

--- Make a buffer a chat's input.
---@param buf integer
function M.attach(buf)
  vim.bo[buf].textwidth = 0
  local chat = require('eca.state.chats').of_buffer(buf)
  if chat and require('eca.input.login').runs(chat.id) then
    require('eca.input.secret').begin(buf)
  end
  draw_placeholder(buf, 'normal')
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'BufWinEnter' }, {
    buffer = buf,
    callback = function()
      changed(buf)
    end,
  })
  vim.api.nvim_create_autocmd({ 'BufUnload', 'InsertLeave' }, {
    buffer = buf,
    callback = function()
      require('eca.input.drafts').flush()
    end,
  })
  vim.api.nvim_create_autocmd({ 'InsertEnter', 'InsertLeave' }, {
    buffer = buf,
    callback = function(event)
      draw_placeholder(buf, event.event == 'InsertEnter' and 'insert' or 'normal')
    end,
  })
end

--- Send the draft as a prompt, as the answer to the question that waits, or to the login that runs,
--- and empty the input; an empty one is not sent.
---@param buf integer
---@param queue boolean wait for the end of a running turn instead of steering it
---@return boolean sent false when nothing is typed
function M.submit(buf, queue)
  local chat = assert(require('eca.state.chats').of_buffer(buf))
  if require('eca.input.login').runs(chat.id) then
    return require('eca.input.login').submit(chat.id)
  end
  local text = M.draft(buf)
  if not text:find('%S') then
    return false
  end
  if not queue and require('eca.approval.answer_mode').of(chat.id) then
    require('eca.approval.answer_mode').submit(chat.id, text)
    return true
  end
  require('eca.input.history').add(chat.id, text)
  M.send(chat.id, text, { queue = queue })
  M.set_draft(buf, '')
  changed(buf)
  M.show_end(chat.id)
  return true
end

--- Send a prompt with the contexts that go along with it now.
---@param chat string
---@param text string
---@param opts? { queue?: boolean, contexts?: eca.Context[] }
function M.send(chat, text, opts)
  local contexts = require('eca.context').collect(chat, text, opts and opts.contexts)
  require('eca.host').send('prompt', {
    chat = chat,
    text = text,
    contexts = contexts,
    queue = opts and opts.queue or false,
  })
end

--- Who has just sent something wants to see the answer: the transcript that he sees follows again.
---@param chat string
function M.show_end(chat)
  local windows = require('eca.window')
  local transcript = windows.shown()
  if transcript and windows.chat_shown() == chat then
    require('eca.window.follow_end').go_to_end(transcript)
    require('eca.window.winbar').refresh_window(transcript)
  end
end

--- Put text back, above a draft that is there: the cursor stays in the draft. Else it is the draft,
--- with the cursor at its end. While a login runs it waits for the end of that.
---@param buf integer
---@param text string
function M.put_back(buf, text)
  local chat = require('eca.state.chats').of_buffer(buf)
  if chat and require('eca.input.login').runs(chat.id) then
    require('eca.input.login').keep(chat.id, text)
    return
  end
  if M.draft(buf):find('%S') then
    vim.api.nvim_buf_set_lines(buf, 0, 0, false, vim.split(text, '\n', { plain = true }))
  else
    M.set_draft(buf, text)
    local last = vim.api.nvim_buf_line_count(buf)
    for _, win in ipairs(vim.fn.win_findbuf(buf)) do
      vim.api.nvim_win_set_cursor(win, { last, #text })
    end
  end
  changed(buf)
end

--- Replace the draft by an older or newer prompt of this chat.
---@param buf integer
---@param step -1|1 older or newer
function M.recall(buf, step)
  local chat = assert(require('eca.state.chats').of_buffer(buf))
  if require('eca.input.login').runs(chat.id) then
    require('eca.ui.notify').info('a login runs: the input is for that')
    return
  end
  local text = require('eca.input.history').step(chat.id, step, M.draft(buf))
  if not text then
    return
  end
  M.set_draft(buf, text)
  changed(buf)
  local last = vim.api.nvim_buf_line_count(buf)
  vim.api.nvim_win_set_cursor(0, { last, #vim.fn.getline(last) })
end

--- Where several wait, each has the number by which `:Eca unqueue` takes it back.
---@param prompts [string, string][]
---@return [string, string][][]
local function queue_lines(prompts)
  local lines = {} ---@type [string, string][][]
  for index, prompt in ipairs(prompts) do
    local number = #prompts > 1 and ('%d '):format(index) or '  '
    local text = (QUEUE_SIGNS[prompt[1]] or '') .. prompt[2]:gsub('%s+', ' ')
    lines[index] = { { number .. text, 'EcaQueued' } }
  end
  return lines
end

--- Show the prompts that wait, above the draft.
---@param buf integer
---@param prompts [string, string][]
function M.show_queue(buf, prompts)
  vim.api.nvim_buf_del_extmark(buf, namespace, QUEUE_MARK)
  if #prompts > 0 then
    vim.api.nvim_buf_set_extmark(buf, namespace, 0, 0, {
      id = QUEUE_MARK,
      virt_lines = queue_lines(prompts),
      virt_lines_above = true,
      virt_lines_leftcol = true,
      right_gravity = false,
    })
  end
  fit_windows(buf)
  M.reveal_queue(buf)
end

--- Rows above the first line are shown only when the window is scrolled to them.
---@param buf integer
function M.reveal_queue(buf)
  local rows = #require('eca.state.mirror').queue(require('eca.state.chats').of_buffer(buf).id)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_call(win, function()
      vim.fn.winrestview({ topline = 1, topfill = rows })
    end)
  end
end

return M
