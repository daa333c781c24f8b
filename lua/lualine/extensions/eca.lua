--- For lualine: `extensions = { 'eca' }` shows the chat's title and state below its input.

--- Not between transcript and input, too, where a line is enough.
local function is_shown()
  return vim.o.laststatus == 3 or vim.bo.filetype == 'eca-input'
end

local function title()
  local text = require('eca').status().title or 'New chat'
  return require('eca.ui.sanitize').statusline(text)
end

local function state()
  return require('eca').statusline()
end

return {
  filetypes = { 'eca-chat', 'eca-input' },
  sections = {
    lualine_a = { { title, cond = is_shown } },
    lualine_z = { { state, cond = is_shown } },
  },
}
