--- Secrets: typed on Neovim's command line, which shows stars. Loaded when one is asked for.
---
--- Rules kept here:
--- - What is typed goes into the answer and nowhere else: it is in no buffer, register, undo
---   history or list of commands. While a macro is being recorded nothing is asked, as its register
---   would get every key.
--- - It is asked for only when the user goes to the request, or begins to type or paste into the
---   empty input of the chat that asks. Everything else goes on meanwhile.
local buffers = require('eca.chat.buffers')
local decide = require('eca.input.decide')
local display_width = require('eca.ui.display_width')
local guard = require('eca.consent.guard')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')

local M = {}

local HIDDEN = ' (hidden): '
--- Columns of the command line that stay free for the secret.
local LEAST = 20

local guards = {} ---@type table<string, eca.Guard> by the digest of what asks for a secret
local typed = '' -- into an input, and not asked for yet

--- Note that a secret is asked for.
---@param item eca.Pending
function M.appeared(item)
  guards[item.digest] = guard.begin()
end

--- Ask for a secret and answer with it. It is cancelled by `<Esc>`, and if nothing is typed.
---@param item eca.Pending
---@param first? string what has been typed of it
---@return boolean answered
function M.ask(item, first)
  if vim.fn.reg_recording() ~= '' then
    notify.warn('stop recording first: the macro would contain what you type')
    return false
  end
  local title = display_width.cut(item.title, vim.o.columns - #HIDDEN - LEAST)
  local done, text = pcall(vim.fn.inputsecret, { -- <C-c> is an error
    prompt = title .. HIDDEN,
    default = first,
    cancelreturn = vim.NIL,
  })
  vim.cmd.redraw()
  local is_answer = done and type(text) == 'string' and (text:find('%S') or item.empty)
  return is_answer and decide.answer(item, text) or false
end

--- What goes into the empty input of a chat that asks for a secret begins the secret. A user who
--- typed when the question came types on in the input.
---@param text string
---@return boolean taken
local function begin(text)
  local chat = buffers.of_buffer(vim.api.nvim_get_current_buf())
  local item = chat and mirror.secret(chat.id)
  local is_empty = vim.fn.line('$') == 1 and vim.api.nvim_get_current_line() == ''
  local edits = vim.bo.filetype == 'eca-input' and vim.api.nvim_get_mode().mode:find('^[inR]')
  if not chat or not item or not edits or not is_empty then
    return false
  end
  local since = guards[item.digest]
  if not since or not guard.is_over(since) then
    return false
  end
  if typed == '' then
    vim.schedule(function()
      local first = typed
      typed = ''
      M.ask(item, first)
    end)
  end
  typed = typed .. text
  return true
end

vim.api.nvim_create_autocmd('InsertCharPre', {
  group = vim.api.nvim_create_augroup('eca.input.secret', {}),
  callback = function()
    if begin(vim.v.char) then
      vim.v.char = ''
    end
  end,
})

local paste = vim.paste

-- No event comes before a paste is in the buffer. False says that it is not pasted: otherwise
-- Neovim would remember it as what `.` repeats.
rawset(vim, 'paste', function(lines, phase)
  return not begin(table.concat(lines)) and paste(lines, phase)
end)

return M
