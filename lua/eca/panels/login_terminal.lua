--- The terminal of a login: a tab page with a program of the agent.
---
--- Rules kept here:
--- - The host has shown the user the command, and the user has agreed. No shell reads it.
--- - The program gets the environment from the host alone; that has no address of this Neovim.
--- - Leaving the tab page in any way ends the program. Its exit code is reported once.
--- - The tab page takes the focus only in normal mode: keys belong where they are typed.
local host = require('eca.host')
local notify = require('eca.ui.notify')
local return_window = require('eca.ui.return_window')
local sanitize = require('eca.ui.sanitize')

local M = {}

local NOT_STARTED = 127
--- The code that is reported for a program whose tab page the user has closed.
local CLOSED = -1

---@class eca.Login
---@field number integer
---@field title string
---@field command string[]
---@field environment table<string, string>
---@field folder string

---@class eca.LoginTab
---@field buf integer
---@field job? integer
---@field origin? eca.Origin where the user was when it took the focus

local tabs = {} ---@type table<integer, eca.LoginTab> of the programs that run, by number

---@param number integer
---@param code integer
local function report(number, code)
  if tabs[number] then
    tabs[number] = nil
    host.send_if_running('login_ended', { number = number, code = code })
  end
end

---@param tab eca.LoginTab
local function close(tab)
  if not vim.api.nvim_buf_is_valid(tab.buf) then
    return
  end
  local inside = vim.api.nvim_get_current_buf() == tab.buf
  vim.api.nvim_buf_delete(tab.buf, { force = true })
  if inside and tab.origin then
    return_window.go_back(tab.origin)
  end
end

---@param tab eca.LoginTab
---@param login eca.Login
local function run(tab, login)
  vim.api.nvim_create_autocmd('BufWinLeave', {
    buffer = tab.buf,
    callback = function()
      report(login.number, CLOSED)
      pcall(vim.fn.jobstop, tab.job)
    end,
  })
  local has_term = vim.fn.has('nvim-0.11') == 1
  local start = has_term and vim.fn.jobstart or vim.fn.termopen
  local started, job = pcall(start, login.command, {
    term = has_term or nil,
    env = login.environment,
    clear_env = true,
    cwd = login.folder,
    on_exit = function(_, code)
      if code == 0 then
        report(login.number, code)
        close(tab)
      elseif vim.api.nvim_get_current_buf() == tab.buf then
        vim.cmd.stopinsert() -- else the next key closes what the program has written
      end
      report(login.number, code)
    end,
  })
  if started and job > 0 then
    tab.job = job
    return
  end
  local why = vim.fn.isdirectory(login.folder) == 0 and 'there is no folder ' .. login.folder
    or 'it is not found, or not executable'
  notify.warn(sanitize.line(('cannot run %s: %s'):format(login.command[1], why)))
  close(tab)
  report(login.number, NOT_STARTED)
end

--- Run the program of a login in a tab page.
---@param login eca.Login
function M.run(login)
  local origin, takes_focus = return_window.here(), vim.api.nvim_get_mode().mode == 'n'
  vim.cmd.tabnew()
  local buf = vim.api.nvim_get_current_buf()
  vim.bo[buf].bufhidden, vim.bo[buf].buflisted, vim.bo[buf].swapfile = 'wipe', false, false
  local title = sanitize.line(login.title):gsub('%%', '%%%%')
  vim.wo[0][0].winbar = (' login: %s%%=<C-\\><C-n>:q cancels '):format(title)
  local tab = { buf = buf, origin = takes_focus and origin or nil } ---@type eca.LoginTab
  tabs[login.number] = tab
  run(tab, login)
  if not tab.job then
    return
  elseif takes_focus then
    vim.cmd.startinsert()
  else
    return_window.go_back(origin)
    notify.info('the login waits in the next tab page: gt goes there')
  end
end

--- End the program of a login that was cancelled.
---@param number integer
function M.finish(number)
  local tab = tabs[number]
  tabs[number] = nil
  if tab then
    pcall(vim.fn.jobstop, tab.job)
    close(tab)
  end
end

return M
