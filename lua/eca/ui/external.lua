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

--- Open a link, or an image by its absolute path. Notifies what is opened, or why it is not.
---@param target string
function M.open(target)
  local fault = refusal(target)
  if fault then
    notify.warn(fault)
    return
  end
  local opened, _, why = pcall(vim.ui.open, target)
  if not opened or why then
    register.yank(target, 'v', register.own())
    notify.warn('yanked, as no program opens it: ' .. target)
  else
    notify.info('opening ' .. target)
  end
end

return M
