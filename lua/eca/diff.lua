--- The diff tab page: a file as it is beside the file as proposed, with a real vimdiff.
---
--- Rules kept here:
--- - The tab page the user comes from is not touched, so leaving brings it back as it was.
--- - What stands on disk now is the real file, so that `do` and `dp` work; the other side is a
---   scratch buffer. The real file's buffer gets no mapping and no option of ours.
--- - Text of the agent is content of a scratch buffer; its path is written, never run.
local paths = require('eca.paths')

local M = {}

---@class eca.Diff
---@field chat string
---@field id string of the tool call
---@field path string
---@field before string whole file
---@field after string whole file, or raw hunks where `fault` is set
---@field kind 'changed'|'new'|'deleted'
---@field pending boolean it waits for approval
---@field fault? string why it cannot be shown side by side

local tabs = {} ---@type table<string, integer> tab page by tool call

---@param text string
---@return string
local function escape(text)
  return (text:gsub('%c', ' '):gsub('%%', '%%%%'))
end

---@param text string
---@return string[]
local function lines_of(text)
  local lines = vim.split(text, '\n', { plain = true })
  if lines[#lines] == '' then
    lines[#lines] = nil
  end
  return lines
end

---@param diff eca.Diff
---@param side string
---@param text string
---@param syntax string
---@return integer buf
local function scratch(diff, side, text, syntax)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  vim.bo[buf].undolevels = -1
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines_of(text))
  vim.bo[buf].undolevels = vim.o.undolevels
  vim.api.nvim_buf_set_name(buf, ('eca://diff/%d/%s/%s'):format(buf, side, diff.id))
  vim.bo[buf].filetype = 'eca-diff'
  vim.bo[buf].syntax = syntax
  return buf
end

---@param diff eca.Diff
---@return string
local function syntax_of(diff)
  return vim.filetype.match({ filename = diff.path }) or ''
end

--- The real file's buffer, when it holds just what the diff says is there now.
---@param diff eca.Diff
---@param text string
---@return integer?
local function real_file(diff, text)
  if not vim.uv.fs_stat(diff.path) then
    return nil
  end
  local buf = paths.buffer_of(diff.path)
  if not buf then
    buf = vim.fn.bufadd(diff.path)
    -- A swap file of another Neovim would stop everything with a question.
    local shortmess = vim.o.shortmess
    vim.opt.shortmess:append('A')
    vim.fn.bufload(buf)
    vim.o.shortmess = shortmess
  end
  local now = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  return vim.deep_equal(now, lines_of(text)) and buf or nil
end

---@param diff eca.Diff
---@return boolean
local function still_pending(diff)
  for _, item in ipairs(require('eca').pending()) do
    if item.id == diff.id then
      return true
    end
  end
  return false
end

---@param diff eca.Diff
local function close(diff)
  local tab = tabs[diff.id]
  tabs[diff.id] = nil
  if tab and vim.api.nvim_tabpage_is_valid(tab) and #vim.api.nvim_list_tabpages() > 1 then
    vim.cmd.tabclose(vim.api.nvim_tabpage_get_number(tab))
  end
end

--- A key that answers the request and leaves.
---@param diff eca.Diff
---@param answer fun()
---@return fun()
local function answering(diff, answer)
  return function()
    if still_pending(diff) then
      answer()
    else
      require('eca.notify').info('this call no longer waits for an answer')
    end
    close(diff)
  end
end

---@param diff eca.Diff
local function reject_with_reason(diff)
  vim.ui.input({ prompt = 'Do instead: ' }, function(reason)
    if reason and reason ~= '' then
      answering(diff, function()
        require('eca').reject({ id = diff.id, reason = reason })
      end)()
    end
  end)
end

---@param diff eca.Diff
---@return [string, string, fun()][] key, text, action
local function actions(diff)
  local eca = require('eca')
  local list = {
    {
      'q',
      'close',
      function()
        close(diff)
      end,
    },
  }
  if diff.pending then
    local answers = {
      { 'a', 'accept', answering(diff, function()
        eca.approve({ id = diff.id })
      end) },
      {
        'A',
        '& remember',
        answering(diff, function()
          eca.approve({ id = diff.id, remember = true })
        end),
      },
      { 'r', 'reject', answering(diff, function()
        eca.reject({ id = diff.id })
      end) },
      {
        'R',
        '& say why',
        function()
          reject_with_reason(diff)
        end,
      },
    }
    list = vim.list_extend(answers, list)
  end
  return list
end

---@param buf integer
---@param diff eca.Diff
---@return string footer of the keys
local function bind(buf, diff)
  local keys = {} ---@type string[]
  for _, action in ipairs(actions(diff)) do
    vim.keymap.set('n', action[1], action[3], { buffer = buf, nowait = true, silent = true })
    keys[#keys + 1] = ('%%#EcaKey#%s%%* %s'):format(action[1], action[2])
  end
  keys[#keys + 1] = '%#EcaKey#]c%* next'
  return table.concat(keys, '  ')
end

---@param win integer
---@param buf integer
---@param winbar string
local function show(win, buf, winbar)
  vim.api.nvim_win_set_buf(win, buf)
  vim.wo[win][0].winbar = winbar
  vim.wo[win][0].foldenable = true
end

---@param diff eca.Diff
---@return integer left, integer right, integer bound the buffer that carries the keys
local function buffers(diff)
  local syntax = diff.fault and 'diff' or syntax_of(diff)
  local now = diff.pending and diff.before or diff.after
  local real = not diff.fault and real_file(diff, now) or nil
  if diff.pending then
    local right = scratch(diff, 'proposed', diff.after, syntax)
    return real or scratch(diff, 'now', diff.before, syntax_of(diff)), right, right
  end
  local left = scratch(diff, 'before', diff.before, syntax_of(diff))
  return left, real or scratch(diff, 'after', diff.after, syntax), left
end

---@param diff eca.Diff
---@return string, string
local function captions(diff)
  local name = escape(paths.short(diff.path))
  if diff.fault then
    return name, '%#EcaError#' .. escape(diff.fault) .. '%*'
  elseif diff.pending then
    local what = ({ new = 'new file', deleted = 'to be deleted' })[diff.kind] or 'proposed'
    return name .. '  now', what
  end
  return name .. '  before', 'after'
end

--- Show a tool call's change; the tab page it has already is entered instead.
---@param diff eca.Diff
function M.show(diff)
  local known = tabs[diff.id]
  if known and vim.api.nvim_tabpage_is_valid(known) then
    vim.api.nvim_set_current_tabpage(known)
    return
  end
  local left, right, bound = buffers(diff)
  vim.cmd('tab sbuffer ' .. left)
  tabs[diff.id] = vim.api.nvim_get_current_tabpage()
  local left_win = vim.api.nvim_get_current_win()
  local right_win = vim.api.nvim_open_win(right, true, { split = 'right', win = left_win })
  local keys = bind(bound, diff)
  local left_caption, right_caption = captions(diff)
  local left_keys = bound == left and '  ' .. keys or ''
  local right_keys = bound == right and '  ' .. keys or ''
  show(left_win, left, ' ' .. left_caption .. left_keys)
  show(right_win, right, ' ' .. right_caption .. right_keys)
  vim.api.nvim_set_current_win(bound == right and right_win or left_win)
  if not diff.fault then
    vim.api.nvim_win_call(left_win, vim.cmd.diffthis)
    vim.api.nvim_win_call(right_win, vim.cmd.diffthis)
    vim.cmd('silent! normal! gg]c')
  end
end

return M
