--- A buffer of ours for a commit: writing it commits what is staged, with its text as the message.
---
--- Rules kept here:
--- - git runs beside Neovim, with the user's own configuration and hooks, as in a shell. If it
---   fails, the text stays, and its last words are shown.
local files = require('eca.files')
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')
local scan = require('eca.text.scan')

local M = {}

local HELP = {
  '# Lines that begin with # are left out. :w commits, :q! leaves without a commit.',
  '# Staged for this commit:',
}

local last = 0

---@param output string
---@return string line the last one that says something
local function last_words(output)
  local lines = vim.split(scan.trim(output), '\n')
  return lines[#lines]
end

--- Show how git has ended.
---@param buf integer
---@param tick integer of what was committed
---@param result vim.SystemCompleted
local function ended(buf, tick, result)
  if result.code ~= 0 then
    local said = last_words(result.stderr ~= '' and result.stderr or result.stdout)
    local where = ''
    if vim.api.nvim_buf_is_valid(buf) then
      vim.bo[buf].modified = true
      where = #vim.fn.win_findbuf(buf) == 0 and ('; your text: :buffer %d'):format(buf) or ''
    end
    said = said ~= '' and said or 'it does not say why'
    return notify.warn(('git has not committed: %s%s'):format(said, where))
  end
  notify.info(vim.split(scan.trim(result.stdout), '\n')[1])
  local is_same = vim.api.nvim_buf_is_valid(buf) and vim.api.nvim_buf_get_changedtick(buf) == tick
  if is_same then
    vim.api.nvim_buf_delete(buf, { force = true })
  end
end

--- Commit with the text of a buffer.
---@param buf integer
---@param root string
local function commit(buf, root)
  local text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, true), '\n') .. '\n'
  -- What git leaves out is what HELP says, whatever character the user has for comments.
  local command = { 'git', '-c', 'core.commentChar=#', 'commit', '--cleanup=strip', '--file=-' }
  vim.bo[buf].modified = false
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  local started, fault = pcall(
    vim.system,
    command,
    { cwd = root, stdin = text, text = true },
    vim.schedule_wrap(function(result)
      ended(buf, tick, result)
    end)
  )
  if not started then
    notify.warn('git does not start: ' .. tostring(fault))
  end
end

--- Open a buffer for the message of a commit in a window of its own.
---@param root string folder of the work tree
---@param staged string[] names that are safe to show
---@return integer buf
function M.open(root, staged)
  last = last + 1
  local buf = others.create_buf()
  files.name(buf, ('commit/%d'):format(last))
  local shown = vim.tbl_map(function(name)
    return '#\t' .. name
  end, staged)
  local lines = vim.list_extend({ '' }, HELP)
  vim.api.nvim_buf_set_lines(buf, 0, -1, true, vim.list_extend(lines, shown))
  vim.bo[buf].buftype, vim.bo[buf].swapfile, vim.bo[buf].bufhidden = 'acwrite', false, 'hide'
  vim.b[buf].eca_commit, vim.bo[buf].modified = root, false
  vim.api.nvim_create_autocmd('BufWriteCmd', {
    buffer = buf,
    callback = function(event)
      if event.match ~= vim.api.nvim_buf_get_name(buf) then
        return notify.warn('not written: :w without a name commits')
      end
      commit(buf, root)
    end,
  })
  vim.api.nvim_create_autocmd('BufUnload', {
    buffer = buf,
    callback = vim.schedule_wrap(function()
      -- `:q!` leaves it in the list of all buffers.
      if vim.api.nvim_buf_is_valid(buf) and not vim.api.nvim_buf_is_loaded(buf) then
        others.call('BufWipeout', vim.api.nvim_buf_delete, buf, { force = true })
      end
    end),
  })
  others.split(buf, { split = 'above', win = 0 })
  others.set('FileType', buf, 'filetype', 'gitcommit')
  return buf
end

return M
