--- Editing a prompt that was sent: its text is in the input, and what is sent takes its place.
---
--- Rules kept here:
--- - Until then nothing happens to the chat or to files, and if it fails the text stays.
--- - The draft that was in the input is set aside. It comes back when the prompt is sent, or when
---   the user empties the input, which cancels. While the user inserts text, an input may be empty.
--- - When the prompt is gone, or its host, the text stays as a draft.
--- - A prompt that came after the edit began goes with what is replaced only if the user knows.
local buffers = require('eca.chat.buffers')
local field = require('eca.input.field')
local history = require('eca.input.history')
local input = require('eca.input')
local notify = require('eca.ui.notify')
local transcript = require('eca.transcript')

local M = {}

--- Let the input take prompts again, and put the draft back into it, above any text.
---@param chat eca.Chat
local function finish(chat)
  local is_there = buffers.restored(chat.id) -- else it was deleted meanwhile
  if is_there and chat.edit.before:find('%S') then
    field.put_back(chat.input, chat.edit.before)
  end
  chat.edit = nil
  if is_there then
    field.changed(chat.input)
  end
end

--- Cancel if the user has emptied the input.
---@param chat eca.Chat
local function cancel(chat)
  local may_end = not chat.edit.sending and not chat.question
  if may_end and not field.draft(chat.input):find('%S') then
    field.set_draft(chat.input, '')
    finish(chat)
    notify.info('the prompt stays as it was sent')
  end
end

--- What happens while the chat goes back to before the prompt.
---@param chat eca.Chat
---@param edit eca.Edit
---@return eca.EditSteps
local function steps_of(chat, edit)
  return {
    begins = function()
      edit.sending = chat.edit == edit
      return edit.sending
    end,
    done = function(is_back)
      edit.sending = false
      local text = field.of_chat(chat.id)
      if chat.edit ~= edit then
        return
      elseif not text:find('%S') then
        return finish(chat)
      elseif not is_back then
        return notify.warn('nothing was sent: your text is still in the input')
      end
      input.send(chat.id, text, { typed = text })
      field.set_draft(chat.input, history.leave(chat.id))
      finish(chat)
      input.show_end(chat.id)
    end,
  }
end

--- The last prompt of a chat.
---@param chat eca.Chat
---@return integer? block
local function newest(chat)
  local row = transcript.find(chat.buf, vim.api.nvim_buf_line_count(chat.buf), 'user', -1)
  local block = row and transcript.block_at(chat.buf, row)
  return block and block.id or nil
end

--- Send what is typed in place of the prompt.
---@param chat eca.Chat
---@param replace eca.EditReplace
local function submit(chat, replace)
  local edit = chat.edit --[[@as eca.Edit]]
  if edit.sending then
    notify.info('the prompt is being sent')
  elseif transcript.range(chat.buf, edit.block) and edit.newest ~= newest(chat) then
    edit.newest = newest(chat)
    notify.warn('another prompt came after it: send again to replace both')
  elseif transcript.range(chat.buf, edit.block) then
    replace(steps_of(chat, edit))
  else
    finish(chat)
    notify.warn('the prompt that you edit is gone: sending adds a new one')
  end
end

--- Put a prompt into the input. Another one that is being edited stays there.
---@param chat eca.Chat
---@param block integer of the prompt
---@param text string
---@param replace eca.EditReplace
---@return boolean begun
function M.begin(chat, block, text, replace)
  if chat.edit then
    notify.info('a prompt is being edited: send it, or empty the input to cancel')
    return false
  elseif chat.question then
    notify.info('the input takes an answer now: answer the question first')
    return false
  end
  chat.edit = {
    block = block,
    newest = newest(chat),
    before = history.leave(chat.id, field.draft(chat.input)),
    sending = false,
    submit = function()
      submit(chat, replace)
    end,
    changed = function()
      cancel(chat)
    end,
    leave = function()
      finish(chat)
    end,
  }
  field.set_draft(chat.input, text)
  local last = vim.api.nvim_buf_line_count(chat.input)
  for _, win in ipairs(vim.fn.win_findbuf(chat.input)) do
    vim.api.nvim_win_set_cursor(win, { last, #vim.fn.getbufline(chat.input, last)[1] })
  end
  field.changed(chat.input)
  return true
end

return M
