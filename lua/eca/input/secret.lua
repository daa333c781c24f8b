--- Hides a secret in a buffer: each typed character is replaced by a sign that stands for it.
---
--- Rules kept here:
--- - The buffer holds signs, and only this file knows what they stand for. So nothing that reads
---   the buffer (registers, completion, other plugins) gets the secret, and every edit works as
---   usual.
--- - Each character is drawn as •, in every window and mode, whatever the buffer holds.
--- - There is no undo, and Vim forgets the last inserted text.
--- - A macro that is being recorded is discarded: its register gets its old content back.
local M = {}

local DOT = '•'
--- The first sign, in the last private-use plane of Unicode, which nobody types.
local FIRST = 0x100000
local SIGN_BYTES = 4
local NEWLINE = 10

---@class eca.Secret
---@field characters string[] what the signs stand for, in order
---@field undolevels integer the buffer's own
---@field pasted boolean? text was inserted other than by typing, so Vim still has it in clear
---@field group integer its autocommands

local secrets = {} ---@type table<integer, eca.Secret> by buffer
local namespace = vim.api.nvim_create_namespace('eca.input.secret')

--- The content of a macro's register before the macro recorded a secret.
---@type { name: string, info: table }?
local recording

--- If a macro is being recorded it gets every key: discard it when the recording ends.
local function discard_recording()
  local name = vim.fn.reg_recording():lower()
  if name == '' or recording then
    return
  end
  recording = { name = name, info = vim.fn.getreginfo(name) }
  vim.api.nvim_create_autocmd('RecordingLeave', {
    group = vim.api.nvim_create_augroup('eca.input.secret.recording', {}),
    once = true,
    callback = function()
      -- Vim sets the register after this event, and before these two.
      vim.api.nvim_create_autocmd({ 'SafeState', 'VimLeavePre' }, {
        group = vim.api.nvim_create_augroup('eca.input.secret.recording', {}),
        callback = M.restore_register,
      })
    end,
  })
end

--- Restore the content of a macro's register, after Vim has stored the macro in it.
function M.restore_register()
  local kept = assert(recording)
  recording = nil
  vim.api.nvim_create_augroup('eca.input.secret.recording', {})
  vim.fn.setreg(kept.name, next(kept.info) and kept.info or '')
  require('eca.ui.notify').info('macro discarded: a secret was typed while it was recorded')
end

--- Convert text to signs; signs in it stay.
---@param secret eca.Secret
---@param text string
---@return string
local function in_signs(secret, text)
  local characters = secret.characters
  local codes = vim.tbl_map(function(code)
    if code == NEWLINE or characters[code - FIRST + 1] then
      return code
    end
    characters[#characters + 1] = vim.fn.nr2char(code)
    return FIRST + #characters - 1
  end, vim.fn.str2list(text))
  return vim.fn.list2str(codes)
end

--- Convert text that was inserted other than by typing (a paste, a register) to signs.
---@param buf integer
local function hide(buf)
  discard_recording()
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  for index, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, false)) do
    local fresh = in_signs(secrets[buf], line)
    if fresh ~= line then
      secrets[buf].pasted = true
      vim.api.nvim_buf_set_lines(buf, index - 1, index, false, { fresh })
      if index == row then
        local before = vim.fn.strchars(line:sub(1, column))
        vim.api.nvim_win_set_cursor(0, { row, before * SIGN_BYTES })
      end
    end
  end
end

--- Make Vim forget the last inserted text, which the command `.` repeats and the register `.`
--- holds.
---@param buf integer
local function forget_insert(buf)
  vim.api.nvim_buf_call(buf, function()
    local view = vim.fn.winsaveview()
    vim.cmd.normal({ 'i\27', bang = true, mods = { noautocmd = true } })
    vim.fn.winrestview(view)
  end)
end

--- Make Vim forget pasted text. Scheduled, because after an event Vim restores what `.` repeats.
---@param buf integer
local function forget_paste(buf)
  hide(buf) -- a paste for which there was no event yet
  vim.schedule(function()
    local secret = secrets[buf]
    if secret and secret.pasted and vim.api.nvim_get_mode().mode == 'n' then
      secret.pasted = nil
      forget_insert(buf)
    end
  end)
end

---@param buf integer
---@return integer group
local function watch(buf)
  local group = vim.api.nvim_create_augroup('eca.input.secret.' .. buf, {})
  vim.api.nvim_create_autocmd('InsertCharPre', {
    group = group,
    buffer = buf,
    callback = function()
      discard_recording()
      vim.v.char = in_signs(secrets[buf], vim.v.char)
    end,
  })
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, {
    group = group,
    buffer = buf,
    callback = function()
      hide(buf)
    end,
  })
  vim.api.nvim_create_autocmd('InsertLeave', {
    group = group,
    buffer = buf,
    callback = function()
      forget_paste(buf)
    end,
  })
  vim.api.nvim_create_autocmd('BufWipeout', {
    group = group,
    buffer = buf,
    callback = function()
      secrets[buf] = nil
    end,
  })
  return group
end

--- Turn a buffer into a field for a secret. Its text and undo history are removed.
---@param buf integer
function M.begin(buf)
  local undolevels = vim.bo[buf].undolevels
  vim.bo[buf].undolevels = -1
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, {})
  secrets[buf] = { characters = {}, undolevels = undolevels, group = watch(buf) }
end

--- The secret as it was typed.
---@param buf integer
---@return string
function M.text(buf)
  local characters = secrets[buf].characters
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  local text = vim.tbl_map(function(code)
    return characters[code - FIRST + 1] or vim.fn.nr2char(code)
  end, vim.fn.str2list(table.concat(lines, '\n')))
  return table.concat(text)
end

--- Add text to the secret.
---@param buf integer
---@param text string one line
function M.add(buf, text)
  local last = vim.api.nvim_buf_get_lines(buf, -2, -1, false)[1]
  vim.api.nvim_buf_set_lines(buf, -2, -1, false, { last .. in_signs(secrets[buf], text) })
end

--- Empty the field and forget the secret.
---@param buf integer
function M.clear(buf)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, {})
  secrets[buf].characters = {}
  forget_insert(buf)
end

--- Turn the field into an ordinary, empty buffer again.
---@param buf integer
function M.finish(buf)
  M.clear(buf)
  vim.bo[buf].undolevels = secrets[buf].undolevels
  vim.api.nvim_del_augroup_by_id(secrets[buf].group)
  secrets[buf] = nil
end

vim.api.nvim_set_decoration_provider(namespace, {
  on_win = function(_, _, buf)
    return secrets[buf] ~= nil
  end,
  on_line = function(_, _, buf, row)
    local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
    for _, start in ipairs(vim.str_utf_pos(line)) do
      vim.api.nvim_buf_set_extmark(buf, namespace, row, start - 1, {
        virt_text = { { DOT, 'EcaNormal' } },
        virt_text_pos = 'overlay',
        hl_mode = 'combine',
        ephemeral = true,
      })
    end
  end,
})

return M
