--- Commands and <Plug> mappings, as stubs: nothing of the plugin is loaded before its first use.
---
--- `lua/eca/keymaps/` has what each <Plug> does: `actions.lua` lists it, `plugs.lua` maps it.

if vim.g.loaded_eca then
  return
end
vim.g.loaded_eca = true

if vim.fn.has('nvim-0.10') == 0 then
  vim.api.nvim_echo({ { 'eca: needs Neovim 0.10 or newer', 'WarningMsg' } }, true, {})
  return
end

local command = vim.api.nvim_create_user_command

command('EcaChat', function(call)
  require('eca.commands').chat(call)
end, { nargs = '*', range = true, bang = true, desc = 'Open the chat, or send it a prompt' })

command('Eca', function(call)
  require('eca.commands').run(call)
end, {
  nargs = '*',
  range = true,
  bang = true,
  desc = 'All that can be done with a chat',
  complete = function(lead, line)
    return require('eca.commands').complete(lead, line)
  end,
})

-- Select mode by itself: one mapping for it and for Visual mode would put a key of Neovim's own
-- before the rest of the name.
for _, mode in ipairs({ '', 's', '!', 't' }) do
  local first = "<Cmd>lua require('eca.keymaps.plugs').first()<CR>"
  vim.api.nvim_set_keymap(mode, '<Plug>(Eca', first, { noremap = true })
end

-- Each buffer of ours gets its keys, whichever part of the plugin has made it.
vim.api.nvim_create_autocmd('User', {
  pattern = 'eca.buffer',
  callback = function(event)
    require('eca.keymaps').attach(event.data.buf, event.data.kind)
  end,
})

-- Of a chat's windows a session file makes empty ones; their buffers would keep its names from it.
vim.api.nvim_create_autocmd('SessionLoadPost', {
  pattern = 'eca://*',
  callback = vim.schedule_wrap(function(event)
    if vim.api.nvim_buf_is_valid(event.buf) and vim.bo[event.buf].buftype == '' then
      vim.api.nvim_buf_delete(event.buf, { force = true })
    end
  end),
})
