--- Sends the drafts to the host, which saves them; and copies the inputs' text for that.
---
--- Rules kept here:
--- - A draft is sent at the latest `LONGEST` after its first unsent change, even if the user keeps
---   typing; and at once when the user leaves the input, its window or Neovim.
--- - The lines of an input are copied as they change, at a cost that depends on the change alone: a
---   buffer can be unloaded at any time, and a Neovim that is ended by a signal frees all buffers
---   before `VimLeavePre`.
--- - When Neovim exits, drafts are also in a file (`draft_file`), in case the host could not write
---   them.
--- - A saved draft is restored once per input, above what is typed already. It is not restored into
---   an input whose own draft was sent, because that is what was saved. A draft that belonged to a
---   chat that is gone is restored in any case.
local buffers = require('eca.chat.buffers')
local comfort = require('eca.host.comfort')
local draft_file = require('eca.host.draft_file')
local field = require('eca.input.field')
local history = require('eca.input.history')
local host = require('eca.host')

local M = {}

local lines = {} ---@type table<integer, string[]> by buffer
local filled = {} ---@type table<integer, true> inputs whose own draft was restored or sent

---@param buf integer
local function copy(buf)
  lines[buf] = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
end

--- The last known text of a buffer.
---@param buf integer
---@return string
function M.last_text(buf)
  return table.concat(lines[buf] or {}, '\n')
end

--- Called when a buffer is gone for good.
---@param buf integer
function M.forget_text(buf)
  lines[buf], filled[buf] = nil, nil
end

--- Milliseconds until a change is sent, at most. With the host's own delay before it writes, a
--- change is saved within a second.
local LONGEST = 400

local sent = buffers.memory() ---@type table<string, string> by chat
local changed = {} ---@type table<string, true> chats
local took_over = false -- the drafts that Neovims without a host have left
local timer = assert(vim.uv.new_timer())
local sources = {} ---@type (fun(chat: string): string)[]

--- Add a source of unsent text outside the input.
---@param source fun(chat: string): string
function M.add_source(source)
  sources[#sources + 1] = source
end

--- All unsent text of a chat: comments on changes; the draft that an answer, a prompt being edited
--- or an older prompt has replaced in the input; and the input.
---@param chat eca.Chat
---@return string
function M.text(chat)
  local input = M.last_text(chat.input)
  local draft, older_prompt = history.draft_before(chat.id)
  local parts = vim.tbl_map(function(source)
    return source(chat.id)
  end, sources)
  vim.list_extend(parts, {
    chat.edit and chat.edit.before or '',
    chat.draft_before or '',
    draft,
    input ~= older_prompt and input or '',
  })
  return vim
    .iter(parts)
    :filter(function(part)
      return part:find('%S') ~= nil
    end)
    :join('\n')
end

--- Send the drafts that have changed.
function M.flush()
  timer:stop()
  local ids = changed
  changed = {}
  for id in pairs(ids) do
    local chat = buffers.get(id)
    local text = chat and M.text(chat) or ''
    if chat and text ~= (sent[id] or '') then
      sent[id], filled[chat.input] = text, true
      host.send('keep_draft', { chat = id, text = text })
    end
  end
  host.settle()
end

--- Called when a chat's draft has changed.
---@param id string
function M.changed(id)
  changed[id] = true
  if not timer:is_active() then
    timer:start(LONGEST, 0, vim.schedule_wrap(M.flush))
  end
end

--- Called when the host is gone: the next one must get all drafts.
function M.forget()
  for _, id in ipairs(buffers.ids()) do
    sent[id] = nil
    local edit = assert(buffers.get(id)).edit
    if edit then -- no other host knows the prompt
      local left, fault = pcall(edit.leave)
      if not left then
        comfort.failed('a draft is not back in its input', tostring(fault))
      end
    end
    changed[id] = true
  end
end

--- Watch the text of a chat's input from now on.
---@param chat eca.Chat
---@param gone? integer the input that is gone or was emptied: its text is restored
function M.follow(chat, gone)
  local text = gone and M.last_text(gone) or ''
  if text ~= '' then
    filled[chat.input] = true
    field.set_draft(chat.input, text)
  end
  if gone and gone ~= chat.input then
    M.forget_text(gone)
  end
  local buf = chat.input
  copy(buf)
  vim.api.nvim_buf_attach(buf, false, {
    on_lines = function(_, _, _, first, last, new_last)
      if new_last == last and lines[buf][last] then
        for index, line in ipairs(vim.api.nvim_buf_get_lines(buf, first, last, false)) do
          lines[buf][first + index] = line
        end
      else
        copy(buf)
      end
      M.changed(chat.id)
    end,
  })
end

--- Put drafts that Neovims without a host have left into the first input that is shown.
---@param buf integer
function M.take_over(buf)
  if took_over then
    return
  end
  took_over = true
  local text = draft_file.take()
  if text then
    field.put_back(buf, text)
  end
end

--- Restore a draft from an earlier Neovim or host (op `draft`).
---@param chat eca.Chat
---@param text string
---@param adopted boolean it belonged to a chat that is gone
function M.restore(chat, text, adopted)
  local is_there = field.draft(chat.input):find(text, 1, true)
  if is_there or (filled[chat.input] and not adopted) then
    return
  end
  filled[chat.input] = true
  field.put_back(chat.input, text)
end

vim.api.nvim_create_autocmd({ 'FocusLost', 'VimSuspend', 'VimLeavePre' }, {
  group = vim.api.nvim_create_augroup('eca.input.drafts', {}),
  callback = M.flush,
})

return M
