--- For lualine: `extensions = { 'eca' }` shows the chat's title and state in its windows.
local function title()
  local text = require('eca').status().title or 'New chat'
  return require('eca.ui.sanitize').statusline(text)
end

local function state()
  return require('eca').statusline()
end

return {
  filetypes = { 'eca-chat', 'eca-input' },
  sections = { lualine_a = { title }, lualine_z = { state } },
}
