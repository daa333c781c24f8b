--- A secret in a buffer: every character that is typed becomes a sign that stands for it.
---
--- Rules kept here:
--- - The buffer holds signs, and what they stand for is only here. So whatever reads the buffer
---   (registers, completion, other plugins) does not get the secret, and any edit is one of it.
--- - What is drawn is one • a character, in every window and mode, whatever the buffer holds.
--- - There is no undo, and Vim forgets what was last inserted.
--- - A macro that is recorded meanwhile is not kept: its register holds what it held before.
local M = {}

local DOT = '•'
--- The first sign: the last private plane of Unicode, of which nobody types anything.
local FIRST = 0x100000
local SIGN_BYTES = 4
local NEWLINE = 10

---@class eca.Secret
---@field characters string[] what the signs stand for, in their order
---@field undolevels integer the buffer's own
---@field came_whole boolean? a text came in otherwise than by typing: Vim has it as it was
---@field group integer its autocommands

local secrets = {} ---@type table<integer, eca.Secret> by buffer
local namespace = vim.api.nvim_create_namespace('eca.input.secret')

--- What the register of a macro held before a secret was typed into it.
---@type { name: string, info: table }?
local recording

--- A macro is recorded and gets every key: have its register hold again what it held before.
local function spoil_recording()
  local name = vim.fn.reg_recording():lower()
  if name == '' or recording then
    return
  end
  recording = { name = name, info = vim.fn.getreginfo(name) }
  vim.api.nvim_create_autocmd('RecordingLeave', {
    group = vim.api.nvim_create_augroup('eca.input.secret.recording', {}),
    once = true,
    callback = function()
      -- The register is set after this event; nothing waits for a key before these two.
      vim.api.nvim_create_autocmd({ 'SafeState', 'VimLeavePre' }, {
        group = vim.api.nvim_create_augroup('eca.input.secret.recording', {}),
        callback = M.restore_register,
      })
    end,
  })
end

--- Put back what the register of a macro held, now that the macro is in it.
function M.restore_register()
  local kept = assert(recording)
  recording = nil
  vim.api.nvim_create_augroup('eca.input.secret.recording', {})
  vim.fn.setreg(kept.name, next(kept.info) and kept.info or '')
  require('eca.ui.notify').info('the macro is not kept: a secret was typed while it was recorded')
end

--- A text in signs; what is a sign already stays.
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

--- Turn what came into the buffer otherwise than by typing (a paste, a register) into signs.
---@param buf integer
local function hide(buf)
  spoil_recording()
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  for index, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, false)) do
    local fresh = in_signs(secrets[buf], line)
    if fresh ~= line then
      secrets[buf].came_whole = true
      vim.api.nvim_buf_set_lines(buf, index - 1, index, false, { fresh })
      if index == row then
        local before = vim.fn.strchars(line:sub(1, column))
        vim.api.nvim_win_set_cursor(0, { row, before * SIGN_BYTES })
      end
    end
  end
end

--- Let Vim forget the text of the last insert, which `.` repeats and the register `.` tells.
---@param buf integer
local function forget_insert(buf)
  vim.api.nvim_buf_call(buf, function()
    local view = vim.fn.winsaveview()
    vim.cmd.normal({ 'i\27', bang = true, mods = { noautocmd = true } })
    vim.fn.winrestview(view)
  end)
end

--- Forget an insert that a text came into whole. Not within an event: Vim puts back afterwards what
--- `.` repeats.
---@param buf integer
local function forget_paste(buf)
  hide(buf) -- a paste of this very moment, which no event has told
  vim.schedule(function()
    local secret = secrets[buf]
    if secret and secret.came_whole and vim.api.nvim_get_mode().mode == 'n' then
      secret.came_whole = nil
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
      spoil_recording()
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

--- Make a buffer a field for a secret; the text that is in it goes, with its undo history.
---@param buf integer
function M.begin(buf)
  local undolevels = vim.bo[buf].undolevels
  vim.bo[buf].undolevels = -1
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, {})
  secrets[buf] = { characters = {}, undolevels = undolevels, group = watch(buf) }
end

--- What is typed.
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

--- Empty the field, and leave nothing of what was typed.
---@param buf integer
function M.clear(buf)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, {})
  secrets[buf].characters = {}
  forget_insert(buf)
end

--- Make the buffer an ordinary one again, empty.
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
