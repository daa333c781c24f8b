--- Opens links and images with the system's program for them. If there is none, yanks the address.
---
--- Rules kept here: a target is data. Only web links, mail links and pictures are opened: the
--- program for another kind of file may run what is in the file.
local files = require('eca.files')
local notify = require('eca.ui.notify')
local register = require('eca.ui.register')

local M = {}

local SCHEMES = { 'http', 'https', 'mailto' }
local IMAGES = { 'bmp', 'gif', 'jpeg', 'jpg', 'png', 'webp' }

---@param target string
---@return string? fault one line
local function refusal(target)
  local scheme = target:match('^(%a[%w+.-]*):')
  if scheme and vim.list_contains(SCHEMES, scheme:lower()) and not target:find('[%c ]') then
    return nil
  elseif not vim.list_contains(IMAGES, target:match('%.(%w+)$')) then
    return ('not opened, not a web link or an image: %s'):format(target)
  end
  return files.fault(target)
end

--- Milliseconds in which a program that cannot open a target says so by its exit code.
local SOON = 10000

--- Open a target with `vim.ui.open`, which tells of its program only by starting it.
---@param target string
---@param failed fun() called later
---@return boolean opened
local function open(target, failed)
  local system, started = vim.system, vim.uv.now()
  rawset(vim, 'system', function(command, options, on_exit)
    return system(command, options, on_exit or vim.schedule_wrap(function(result)
      if result.code ~= 0 and vim.uv.now() - started < SOON then
        failed()
      end
    end))
  end)
  local opened, _, why = pcall(vim.ui.open, target)
  rawset(vim, 'system', system)
  return opened and not why
end

--- Open a link, or an image by its absolute path. Notifies what is opened, or why it is not.
---@param target string
function M.open(target)
  local fault, own = refusal(target), register.own()
  if fault then
    notify.warn(fault)
    return
  end
  local function yank()
    register.yank(target, 'v', own)
    notify.warn('yanked, as no program opens it: ' .. target)
  end
  if open(target, yank) then
    notify.info('opening ' .. target)
  else
    yank()
  end
end

return M
