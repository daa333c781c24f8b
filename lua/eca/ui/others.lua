--- Calls functions in which autocommands and plugins of the user run, such as those for `FileType`:
--- if one of them fails, ours goes on. Our own buffers are created and announced here.
---
--- Rules kept here:
--- - What they raise neither ends the call nor shows a traceback, for which Neovim would wait.
--- - One message for each failure says what it was. Errors of Vim script may have been silenced by
---   them: these are not shown.
--- - Errors of the call itself are raised as ever.
--- - Every unlisted buffer is created here. It can be changed, also in `nvim -M`.
--- - The announcement is an event of Neovim, `User eca.buffer`, so that `plugin/eca.lua` can listen
---   before anything of the plugin is loaded. Code that creates a buffer knows no listener.
local notify = require('eca.ui.notify')
local sanitize = require('eca.ui.sanitize')

local M = {}

--- What errors look like that nobody has silenced: of Lua, or thrown.
local RAISED = { 'Lua callback:', 'Lua:', 'stack traceback:', 'E605:', 'E5108:' }

local told = {} ---@type table<string, true> events, and what was said

--- What a failure says, in one line: without Lua's places and Neovim's wrappers.
---@param fault string
---@return string
function M.words(fault)
  local text = fault:gsub('\n%s*stack traceback:.*', '')
  local line = ''
  for each in vim.gsplit(text, '\n', { plain = true }) do
    line = each:find('%S') and each or line
  end
  line = line:gsub('^.*[Ll]ua callback: ', ''):gsub('^%s*Vim:', '')
  line = line:gsub('^%[string ".-"%]:%d+: ', ''):gsub('^%S+:%d+: ', '')
  return sanitize.line(line)
end

--- Is a failure one that nobody has silenced?
---@param fault string
---@return boolean
local function was_raised(fault)
  return vim.iter(RAISED):any(function(sign)
    return fault:find(sign, 1, true) ~= nil
  end)
end

---@param event string
---@param fault string
local function report(event, fault)
  local words = M.words(fault)
  if not told[event] and not told[words] then
    told[event], told[words] = true, true
    notify.warn(('an autocommand for %s failed: %s'):format(event, words))
  end
end

--- The call under way. Called by Neovim's command in `M.call`, never by others.
---@type fun()?
M.run = nil

--- Call a function.
---@generic T
---@param event string the event for which others run, for the message
---@param run fun(...: any): T
---@param ... any
---@return T
function M.call(event, run, ...)
  local arguments, count = { ... }, select('#', ...)
  local ran, worked, result = false, true, nil
  local before, outer = vim.v.errmsg, M.run
  M.run = function()
    vim.v.errmsg, ran = '', true
    worked, result = pcall(run, unpack(arguments, 1, count))
  end
  local command = { cmd = 'lua', args = { "require('eca.ui.others').run()" } }
  command.mods = { emsg_silent = true }
  local started, fault = pcall(vim.api.nvim_cmd, command, {})
  M.run = outer
  local said = vim.v.errmsg
  vim.v.errmsg = before
  if not ran or not worked then
    error(ran and result or fault, 0)
  elseif not started then -- thrown
    report(event, tostring(fault))
  elseif said ~= '' and was_raised(said) then
    report(event, said)
  end
  return result
end

--- Open a window, as `nvim_open_win` does.
---@param buf integer
---@param enter boolean
---@param config table
---@return integer win
function M.open_win(buf, enter, config)
  return M.call('WinNew', vim.api.nvim_open_win, buf, enter, config)
end

--- Open a split and enter it: as a tab page of its own if there is no room.
---@param buf integer
---@param config table as of `nvim_open_win`
---@return integer win
function M.split(buf, config)
  local opened, win = pcall(M.open_win, buf, true, config)
  if not opened then
    M.call('TabNew', vim.cmd.tabnew)
    vim.bo.bufhidden = 'wipe'
    win = vim.api.nvim_get_current_win()
    M.show(win, buf)
  end
  return win
end

--- Run a command that opens a split: as a tab page of its own if there is no room.
---@param name 'copen'|'lopen'|'new'|'split'
---@param options? vim.api.keyset.cmd
function M.split_by(name, options)
  local run = ({
    copen = vim.cmd.copen,
    lopen = vim.cmd.lopen,
    new = vim.cmd.new,
    split = vim.cmd.split,
  })[name]
  if not pcall(M.call, 'WinNew', run, options or {}) then
    M.call('TabNew', run, { mods = { tab = vim.fn.tabpagenr() } })
  end
end

--- Close a window, as `nvim_win_close` does: it raises an error for the last one.
---
--- Neovim 0.12.4 uses freed memory, and ends, if of two floats that the user has left in another
--- tab page the inner one is closed first and then the outer one, each having the focus there: an
--- ordinary window of that tab page takes the focus first.
---@param win integer
---@param force? boolean default: true
function M.close(win, force)
  local tab = vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_tabpage(win)
  local elsewhere = tab and tab ~= vim.api.nvim_get_current_tabpage()
  if tab and elsewhere and vim.api.nvim_tabpage_get_win(tab) == win then
    for _, other in ipairs(vim.api.nvim_tabpage_list_wins(tab)) do
      if other ~= win and vim.api.nvim_win_get_config(other).relative == '' then
        vim.api.nvim_tabpage_set_win(tab, other)
        break
      end
    end
  end
  vim.api.nvim_win_close(win, force ~= false)
end

--- A function that calls another one soon: once no command-line window is open, in which Neovim
--- lets nobody go to another window, nor ask for the state of a file.
---@param callback fun(...)
---@return fun(...)
function M.soon(callback)
  local function run(...)
    if vim.fn.getcmdwintype() == '' then
      return callback(...)
    end
    local again = vim.schedule_wrap(run)
    local given, count = { ... }, select('#', ...)
    vim.api.nvim_create_autocmd('CmdwinLeave', {
      once = true,
      callback = function()
        again(unpack(given, 1, count))
      end,
    })
  end
  return vim.schedule_wrap(run)
end

--- Go to a window.
---@param win integer
function M.go_to(win)
  M.call('WinEnter', vim.api.nvim_set_current_win, win)
end

--- Go to a tab page.
---@param tab integer
function M.go_to_tab(tab)
  M.call('TabEnter', vim.api.nvim_set_current_tabpage, tab)
end

--- Show a buffer in a window.
---@param win integer
---@param buf integer
function M.show(win, buf)
  M.call('BufWinEnter', vim.api.nvim_win_set_buf, win, buf)
end

--- Set the line above a window's text. If there is no row for it, Neovim would wait for a key.
---@param win integer
---@param text string
function M.set_winbar(win, text)
  local has_room = vim.api.nvim_win_get_height(win) > 1 or vim.fn.getwininfo(win)[1].winbar > 0
  if has_room and vim.wo[win].winbar ~= text then
    vim.wo[win][0].winbar = text
  end
end

--- Set an option of a buffer.
---@param event string
---@param buf integer
---@param name string
---@param value any
function M.set(event, buf, name, value)
  M.call(event, vim.api.nvim_set_option_value, name, value, { buf = buf })
end

--- Fire a `User` autocommand.
---@param event string
---@param data any
function M.emit(event, data)
  local options = { pattern = event, modeline = false, data = data }
  M.call('User ' .. event, vim.api.nvim_exec_autocmds, 'User', options)
end

---@alias eca.BufferKind 'chat'|'input'|'changes'|'panel'|'preview'|'answer'

---@class eca.OurBuffer data of the event `User eca.buffer`
---@field buf integer
---@field kind eca.BufferKind

--- Create an unlisted buffer without a file.
---@return integer buf
function M.create_buf()
  local buf = M.call('BufNew', function()
    return vim.api.nvim_create_buf(false, true)
  end)
  vim.bo[buf].modifiable = true
  return buf
end

--- Announce a new buffer that has its name and file type. All listeners have run when this returns.
---@param buf integer
---@param kind eca.BufferKind
function M.announce(buf, kind)
  local data = { buf = buf, kind = kind } ---@type eca.OurBuffer
  M.emit('eca.buffer', data)
end

return M
