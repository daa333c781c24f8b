--- The text of a chat's input: the draft, and text that is put back into it.
---
--- Rules kept here:
--- - Text that is put back goes above the draft and never replaces it. While the input takes an
---   answer it waits with the draft that is set aside: it would be sent as that answer.
--- - The placeholder is virtual text; the buffer holds only the draft.
local buffers = require('eca.chat.buffers')
local keys = require('eca.ui.keys')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local tokens = require('eca.context.tokens')
local winbar = require('eca.window.winbar')
local window_options = require('eca.window.options')
local windows = require('eca.window')

local M = {}

M.namespace = vim.api.nvim_create_namespace('eca.input')

--- Its marks are on the tokens that go with the next prompt, typed here or not.
local RANGES = vim.api.nvim_create_namespace('eca.input.ranges')

local PLACEHOLDERS = {
  insert = 'type here',
  normal = 'type here with i', -- unless the user has another meaning for that key
  answer = 'type an answer',
  secret = 'type the secret, hidden',
}
local PLACEHOLDER_MARK = 1

--- The draft of an input.
---@param buf integer
---@return string
function M.draft(buf)
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
end

--- The draft of a chat.
---@param chat string
---@return string
function M.of_chat(chat)
  local known = buffers.restored(chat)
  return known and M.draft(known.input) or ''
end

--- Let a text in that has no other place, whatever the user or a plugin has set.
---@param buf integer
local function unlock(buf)
  vim.bo[buf].modifiable = true
end

--- Replace the draft.
---@param buf integer
---@param text string
function M.set_draft(buf, text)
  unlock(buf)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(text, '\n', { plain = true }))
end

--- Where a word goes in: at the cursor in insert mode, after it in normal mode, at the end if no
--- window shows the input.
---@param buf integer
---@return integer row 1-based
---@return integer column 0-based byte
local function place_of_word(buf)
  local win = vim.fn.win_findbuf(buf)[1]
  local row = win and vim.api.nvim_win_get_cursor(win)[1] or vim.api.nvim_buf_line_count(buf)
  local line = vim.api.nvim_buf_get_lines(buf, row - 1, row, false)[1]
  local column = win and vim.api.nvim_win_get_cursor(win)[2] or #line
  local types = vim.api.nvim_get_current_buf() == buf and vim.api.nvim_get_mode().mode:find('^i')
  if not types and column < #line then
    column = column + 1 + vim.str_utf_end(line, column + 1)
  end
  return row, column
end

--- Insert a word into the draft, with blanks around it; the cursor goes behind it.
---@param buf integer
---@param word string
function M.insert(buf, word)
  local row, column = place_of_word(buf)
  local line = vim.api.nvim_buf_get_lines(buf, row - 1, row, false)[1]
  local blank = (column > 0 and not line:find('^%s', column)) and ' ' or ''
  local text = blank .. word .. (line:find('^%s', column + 1) and '' or ' ')
  unlock(buf)
  vim.api.nvim_buf_set_text(buf, row - 1, column, row - 1, column, { text })
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_set_cursor(win, { row, column + #text })
  end
  M.changed(buf)
end

--- A text with the keys that work in an input, the user's own ones if they have any.
---@param buf integer
---@param kind 'normal'|'insert'|'answer'|'secret'
---@return string
local function with_keys(buf, kind)
  local is_normal = kind == 'normal'
  local mode, preferred = is_normal and 'n' or 'i', is_normal and '<CR>' or '<C-s>'
  local does = kind == 'secret' and ' asks' or ' sends'
  local send = keys.of(buf, mode, 'Submit', preferred)
  local list = is_normal and keys.of(buf, mode, 'Keys')
  local own_i = is_normal
    and vim.api.nvim_buf_call(buf, function()
      return vim.fn.maparg('i', 'n') ~= ''
    end)
  local parts = { PLACEHOLDERS[own_i and 'insert' or kind] } ---@type string[]
  parts[#parts + 1] = send and send .. does or nil
  parts[#parts + 1] = list and list .. ' keys' or nil
  return table.concat(parts, ' · ')
end

---@param buf integer
---@param mode 'insert'|'normal'
---@return string
local function placeholder(buf, mode)
  local chat = buffers.of_buffer(buf)
  local question = chat and chat.question
  if not question then
    return with_keys(buf, chat and mirror.secret(chat.id) and 'secret' or mode)
  end
  local shown = with_keys(buf, question.secret and 'secret' or 'answer')
  return question.empty and ('%s · empty: %s'):format(shown, question.empty) or shown
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

--- Called when the text has changed: draws what depends on it.
---@param buf integer
function M.changed(buf)
  local typing = vim.api.nvim_get_current_buf() == buf and vim.api.nvim_get_mode().mode == 'i'
  M.draw_placeholder(buf, typing and 'insert' or 'normal')
  windows.fit_input(buf)
  local chat = buffers.of_buffer(buf)
  if chat then
    winbar.refresh(chat.id)
  end
end

--- Called when the input takes something else: prompts, or the answer to a question.
---@param buf integer
function M.mode_changed(buf)
  vim.tbl_map(window_options.set_prefix, vim.fn.win_findbuf(buf))
  M.changed(buf)
end

--- Put text above what the input holds; the cursor stays there. In an empty input the cursor goes
--- to the end of the text.
---@param buf integer
---@param text string
function M.put_above(buf, text)
  unlock(buf)
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

--- Put text that was elsewhere back into the draft, above what is typed there.
---@param buf integer
---@param text string
function M.put_back(buf, text)
  local chat = buffers.of_buffer(buf)
  if not chat or not chat.question then
    return M.put_above(buf, text)
  end
  local before = chat.draft_before or ''
  chat.draft_before = before:find('%S') and ('%s\n%s'):format(text, before) or text
  unlock(buf)
  vim.api.nvim_buf_set_lines(buf, 0, 0, false, {}) -- changes nothing, but has drafts saved
  vim.schedule(function() -- after what those say who put it back
    if chat.question then -- else it is back already
      notify.warn('the input takes an answer now: your text comes back after it')
    end
  end)
end

---@param buf integer
---@param row integer 0-based
---@param column integer 0-based
---@param names string
local function mark_range(buf, row, column, names)
  local options = { end_row = row, end_col = column + #names, invalidate = true }
  vim.api.nvim_buf_set_extmark(buf, RANGES, row, column, options)
end

--- Replace the marked tokens of a draft; what is typed beside them stays.
---@param buf integer
---@param replacement fun(names: string): string
---@return string[] names of each, the last one first
local function replace_ranges(buf, replacement)
  local found = {} ---@type string[]
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, RANGES, -1, 0, { details = true })) do
    local row, column, details = mark[2], mark[3], mark[4]
    if not details.invalid then -- deleted with its text, until the user undoes that
      unlock(buf)
      local last, stop = details.end_row, details.end_col
      local names = table.concat(vim.api.nvim_buf_get_text(buf, row, column, last, stop, {}), ' ')
      local new = replacement(names)
      vim.api.nvim_buf_set_text(buf, row, column, last, stop, { new })
      if new ~= '' then
        mark_range(buf, row, column, new)
      elseif vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] == '' then
        vim.api.nvim_buf_set_lines(buf, row, row + 1, false, {})
      end
      found[#found + 1] = names
    end
  end
  return found
end

--- Name contexts in the draft, in a line below it, unless they are named there already. The cursor
--- stays where the user types. They go with the next prompt, and mean the same in any folder.
---@param buf integer
---@param items eca.Context[]
function M.put_below(buf, items)
  local names = tokens.write_all(items)
  local words = (' %s '):format(M.draft(buf):gsub('\n', ' '))
  if names == '' or words:find((' %s '):format(names), 1, true) then
    return
  end
  unlock(buf)
  vim.api.nvim_buf_set_lines(buf, -1, -1, false, { names })
  mark_range(buf, vim.api.nvim_buf_line_count(buf) - 1, 0, names)
  vim.api.nvim_create_autocmd('DirChangedPre', {
    group = vim.api.nvim_create_augroup('eca.input.ranges', {}), -- one, for all inputs
    callback = function()
      for _, id in ipairs(buffers.ids()) do
        local input = assert(buffers.get(id)).input
        if vim.api.nvim_buf_is_loaded(input) then
          replace_ranges(input, tokens.whole)
        end
      end
    end,
  })
  M.changed(buf)
end

--- A prompt that was not typed in the draft, with the ranges that wait there for the next one.
---@param buf integer
---@param prompt string
---@return string
function M.with_ranges(buf, prompt)
  local taken = replace_ranges(buf, function()
    return ''
  end)
  for _, names in ipairs(taken) do
    prompt = vim.endswith(prompt, names) and prompt or ('%s\n%s'):format(prompt, names)
    M.changed(buf)
  end
  return prompt
end

return M
