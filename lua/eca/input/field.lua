--- The text of a chat's input: what is typed there, and what comes back into it.
---
--- Rules kept here:
--- - What is typed is the user's: what comes back goes above a draft that is there.
--- - The placeholder is virtual text; the buffer holds the draft alone. While a login runs the
---   buffer holds what that asks for, which is not read here: the draft is put aside.
local buffers = require('eca.chat.buffers')
local heights = require('eca.window.input_height')
local input_mode = require('eca.state.input_mode')
local window_options = require('eca.window.options')
local windows = require('eca.window')
local winbar = require('eca.window.winbar')

local M = {}

M.namespace = vim.api.nvim_create_namespace('eca.input')

local PLACEHOLDERS = {
  insert = 'type here · <C-s> sends',
  normal = 'type here with i · <CR> sends · g? keys',
  answer = 'your own words · <C-s> answers',
  login = 'for the login, never shown nor kept · <C-s> sends',
}
local PLACEHOLDER_MARK = 1

local aside = {} ---@type table<string, string> what a login stands in for, by chat
local on_keep ---@type fun(chat: string)

--- Name who is called when something is put aside that is not in the buffer.
---@param it fun(chat: string)
function M.keep_with(it)
  on_keep = it
end

--- What is put aside while a login runs.
---@param chat string
---@return string?
function M.aside(chat)
  return aside[chat]
end

---@param chat string
---@param text? string nil: nothing is put aside any more
function M.put_aside(chat, text)
  aside[chat] = text
end

--- What is typed and not sent, as a prompt.
---@param buf integer
---@return string
function M.draft(buf)
  local chat = buffers.of_buffer(buf)
  local before = chat and aside[chat.id]
  return before or table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
end

--- What is typed and not sent in a chat, as a prompt.
---@param chat string
---@return string
function M.of_chat(chat)
  local known = buffers.get(chat)
  return known and M.draft(known.input) or ''
end

--- Type something else.
---@param buf integer
---@param text string
function M.set_draft(buf, text)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(text, '\n', { plain = true }))
end

--- Give the windows of an input the height its text asks for.
---@param buf integer
function M.fit_windows(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    windows.ask_rows(win, heights.of_text(buf, win))
  end
end

---@param buf integer
---@param mode 'insert'|'normal'
---@return string
local function placeholder(buf, mode)
  local chat = buffers.of_buffer(buf)
  if chat and input_mode.is_login(chat.id) then
    return PLACEHOLDERS.login
  end
  return PLACEHOLDERS[chat and input_mode.question(chat.id) and 'answer' or mode]
end

---@param buf integer
---@param mode 'insert'|'normal'
function M.draw_placeholder(buf, mode)
  local first = vim.api.nvim_buf_get_lines(buf, 0, 1, false)[1]
  if first ~= '' or vim.api.nvim_buf_line_count(buf) > 1 then
    vim.api.nvim_buf_del_extmark(buf, M.namespace, PLACEHOLDER_MARK)
    return
  end
  vim.api.nvim_buf_set_extmark(buf, M.namespace, 0, 0, {
    id = PLACEHOLDER_MARK,
    virt_text = { { placeholder(buf, mode), 'EcaPlaceholder' } },
    virt_text_pos = 'overlay',
  })
end

--- The text has changed: draw what depends on it.
---@param buf integer
function M.changed(buf)
  local typing = vim.api.nvim_get_current_buf() == buf and vim.api.nvim_get_mode().mode == 'i'
  M.draw_placeholder(buf, typing and 'insert' or 'normal')
  M.fit_windows(buf)
  local chat = buffers.of_buffer(buf)
  if chat then
    winbar.refresh(chat.id)
  end
end

--- Show what the input is for now: prompts, the answer to a question, or a login.
---@param buf integer
function M.redress(buf)
  vim.tbl_map(window_options.sign, vim.fn.win_findbuf(buf))
  M.changed(buf)
end

--- Put text above what comes back after the login, and say so.
---@param chat string
---@param text string
local function keep(chat, text)
  aside[chat] = aside[chat]:find('%S') and text .. '\n' .. aside[chat] or text
  on_keep(chat)
  require('eca.ui.notify').info('a login runs: what came back is in the input after it')
end

--- Put text back, above a draft that is there: the cursor stays in the draft. Else it is the draft,
--- with the cursor at its end. While a login runs it waits for the end of that.
---@param buf integer
---@param text string
function M.put_back(buf, text)
  local chat = buffers.of_buffer(buf)
  if chat and aside[chat.id] then
    keep(chat.id, text)
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
  M.changed(buf)
end

return M
