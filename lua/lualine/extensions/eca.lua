--- For lualine: `extensions = { 'eca' }` shows the chat's title and state in its windows.
local function title()
  return (require('eca').status().title or 'New chat'):gsub('%%', '%%%%')
end

local function state()
  return require('eca').statusline()
end

return {
  filetypes = { 'eca-chat', 'eca-input' },
  sections = { lualine_a = { title }, lualine_z = { state } },
}
