--- The message of a commit, written by an agent into the buffer in which the user writes it.
---
--- Rules kept here:
--- - It is one undo step, above everything that stands there. As soon as the user changes it, the
---   rest of it is dropped: the text is theirs.
--- - One at a time: a second `:Eca commit` stops the first, whose text stays.
--- - If nothing is staged no window opens, and a message says so.
local editor = require('eca.commit.editor')
local host = require('eca.host')
local notify = require('eca.ui.notify')
local return_window = require('eca.ui.return_window')

local M = {}

local namespace = vim.api.nvim_create_namespace('eca.commit')
local WRITING = 'the message is being written · :Eca commit! stops'
--- Milliseconds that another plugin has to open its buffer for the commit.
M.PATIENCE = 10000

---@class eca.CommitMessage
---@field id string
---@field buf integer
---@field lines string[] what was written last
---@field tick? integer of the buffer after that

local current ---@type eca.CommitMessage?
local last = 0

--- Where git is asked: what names the repository, and git's index of this commit.
---@param buf? integer in which git has the message written
---@return { place: string, index?: string }
local function repository(buf)
  if not buf then
    return { place = vim.fn.getcwd() }
  end
  local place = vim.b[buf].eca_commit or vim.api.nvim_buf_get_name(buf)
  local is_started_by_git = vim.env.GIT_INDEX_FILE and not vim.b[buf].eca_commit
  return { place = place, index = is_started_by_git and vim.env.GIT_INDEX_FILE or nil }
end

--- Say behind the message that it is being written.
---@param message eca.CommitMessage
local function note(message)
  local row = math.min(#message.lines, vim.api.nvim_buf_line_count(message.buf) - 1)
  local options = { id = 1, virt_text = { { WRITING, 'EcaGhost' } } }
  vim.api.nvim_buf_set_extmark(message.buf, namespace, row, 0, options)
end

--- Stop what is being written; what stands there stays.
function M.stop()
  local message = current
  current = nil
  if message then
    host.send_if_running('stop_message', { id = message.id })
    if vim.api.nvim_buf_is_valid(message.buf) then
      vim.api.nvim_buf_clear_namespace(message.buf, namespace, 0, -1)
    end
  end
end

--- Is what was written last unchanged?
---@param message eca.CommitMessage
---@return boolean
local function is_untouched(message)
  local lines = vim.api.nvim_buf_get_lines(message.buf, 0, #message.lines, false)
  return vim.deep_equal(lines, message.lines)
end

--- Write the message so far, as a part of the same undo step.
---@param message eca.CommitMessage
---@param lines string[]
local function write(message, lines)
  if vim.deep_equal(lines, message.lines) then
    return
  end
  vim.api.nvim_buf_call(message.buf, function()
    if message.tick == vim.api.nvim_buf_get_changedtick(message.buf) then
      pcall(vim.cmd.undojoin) -- not after an undo
    end
    vim.api.nvim_buf_set_lines(message.buf, 0, #message.lines, true, lines)
  end)
  message.lines, message.tick = lines, vim.api.nvim_buf_get_changedtick(message.buf)
end

--- Op `commit_message`.
---@param op table id, state, lines, notice and fault, see `SetMessage` of the host
function M.received(op)
  local message = current
  if not message or message.id ~= op.id then
    return
  elseif not vim.api.nvim_buf_is_loaded(message.buf) or not is_untouched(message) then
    return M.stop()
  elseif op.state == 'failed' then
    M.stop()
    return notify.warn('no commit message: ' .. (op.fault or 'see :Eca log'))
  end
  local lines = op.lines or {}
  write(message, lines)
  if op.state == 'ready' then
    current = nil
    vim.api.nvim_buf_clear_namespace(message.buf, namespace, 0, -1)
    if op.notice then
      notify.warn('commit message: ' .. op.notice)
    end
  else
    note(message)
  end
end

--- Have the message written into a buffer.
---@param buf integer
local function begin(buf)
  M.stop()
  require('eca.ui.highlights').setup()
  last = last + 1
  local id = ('aside-commit-%d-%s'):format(last, vim.uv.hrtime()) -- no list of chats has it
  current = { id = id, buf = buf, lines = {} }
  note(current)
  local where = repository(buf)
  host.send('write_message', { id = id, place = where.place, index = where.index })
end

--- Open a buffer for a commit of what is staged: that of fugitive, if it is there, else ours.
---@param root string
---@param files string[]
local function open(root, files)
  if vim.fn.exists(':Git') ~= 2 or vim.g.loaded_fugitive == nil then
    return begin(editor.open(root, files))
  end
  local group = vim.api.nvim_create_augroup('eca.commit', {})
  vim.api.nvim_create_autocmd('FileType', {
    group = group,
    pattern = 'gitcommit',
    once = true,
    callback = vim.schedule_wrap(function(event)
      if vim.api.nvim_buf_is_loaded(event.buf) then
        begin(event.buf)
      end
    end),
  })
  vim.defer_fn(function()
    pcall(vim.api.nvim_clear_autocmds, { group = group })
  end, M.PATIENCE)
  vim.cmd.Git('commit')
end

--- `:Eca commit`: write the message of a commit; with a `!` stop that.
---@param _ nil
---@param stop boolean
function M.run(_, stop)
  local buf = vim.api.nvim_get_current_buf()
  local is_message = vim.bo[buf].filetype == 'gitcommit' and vim.bo[buf].modifiable
  if stop then
    return M.stop()
  end
  local asked = return_window.asked()
  host.ask('staged', repository(is_message and buf or nil), function(found)
    if not found or found.fault then
      notify.warn(found and found.fault or 'git was not asked: see :Eca log')
    elseif not is_message then
      if return_window.may_focus(asked, 'the message') then
        open(found.root, found.files)
      end
    elseif vim.api.nvim_buf_is_loaded(buf) then
      begin(buf)
    end
  end)
end

--- The host is gone: nothing more comes.
function M.host_gone()
  M.stop()
end

return M
