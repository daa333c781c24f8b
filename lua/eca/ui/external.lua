--- Opens links and images with the system's own program. Without one the address is yanked.
---
--- Rules kept here: a target is data. Only web and mail links are opened, and files of kinds that
--- are nothing but pixels: the program for another kind may run what is in it.
local files = require('eca.files')
local notify = require('eca.ui.notify')

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
    return ('not opened, neither a web link nor an image: %s'):format(target)
  end
  return files.fault(target)
end

--- Open a link, or the absolute path of an image; say what is opened, or why it is not.
---@param target string
function M.open(target)
  local fault = refusal(target)
  if fault then
    notify.warn(fault)
    return
  end
  fault = select(2, vim.ui.open(target))
  if fault then
    vim.fn.setreg(vim.v.register, target)
    notify.warn('no program opens this here, it is yanked: ' .. target)
  else
    notify.info('opens ' .. target)
  end
end

return M
