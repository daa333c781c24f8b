--- Commands and <Plug>s: nothing of the plugin is loaded before its first use.
---
--- `lua/eca/keymaps/actions.lua` lists what each <Plug> does.

if vim.g.loaded_eca then
  return
end
vim.g.loaded_eca = true

local unfit = vim.fn.has('nvim-0.10') == 0 and 'eca: needs Neovim 0.10 or newer'
  or vim.fn.has('win32') == 1 and 'eca: on Windows, run Neovim inside WSL'
if unfit then
  vim.api.nvim_echo({ { unfit, 'WarningMsg' } }, true, {})
  return
end

local command = vim.api.nvim_create_user_command

command('EcaChat', function(call)
  require('eca.commands').chat(call)
end, {
  nargs = '*',
  range = true,
  bang = true,
  desc = 'Open the chat, or send it a prompt',
  complete = function(lead)
    return require('eca.commands.completion').chat(lead)
  end,
})

command('Eca', function(call)
  require('eca.commands').run(call)
end, {
  nargs = '*',
  range = true,
  bang = true,
  desc = 'All subcommands for chats',
  complete = function(lead, line)
    return require('eca.commands').complete(lead, line)
  end,
})

-- One mapping stands for all actions and reads the rest of the name: 70 of them in all modes would
-- cost 1 ms of each start of Neovim.
-- Select mode has a mapping of its own: with one for both it and Visual mode, Neovim would insert a
-- key before the rest of the name.
for _, mode in ipairs({ '', 's', '!', 't' }) do
  local run = "<Cmd>lua require('eca.keymaps').plug()<CR>"
  vim.api.nvim_set_keymap(mode, '<Plug>(Eca', run, { noremap = true })
end

-- Maps the keys in each of our buffers, whichever part of the plugin has created it.
vim.api.nvim_create_autocmd('User', {
  pattern = 'eca.buffer',
  callback = function(event)
    require('eca.keymaps').attach(event.data.buf, event.data.kind)
  end,
})

-- Inline completion is off unless an option or a variable of the buffer says otherwise: nothing is
-- loaded for those who set neither.
vim.api.nvim_create_autocmd('InsertEnter', {
  group = vim.api.nvim_create_augroup('eca.inline.enter', {}),
  callback = function()
    local may_be_on = vim.g.eca ~= nil or vim.b.eca_inline ~= nil or package.loaded['eca.config']
    if may_be_on and vim.bo.buftype == '' then
      require('eca.actions.inline').entered()
    end
  end,
})

-- Code actions are off unless an option says otherwise: nothing is loaded for those who set none.
local function attach_actions(event)
  local given = vim.g.eca
  local is_on = type(given) == 'function' or type(given) == 'table' and given.code_actions
  if not is_on and not package.loaded['eca.config'] or vim.bo[event.buf].buftype ~= '' then
    return
  end
  vim.schedule(function()
    local is_loaded = vim.api.nvim_buf_is_loaded(event.buf)
    if is_loaded and require('eca.config').get().code_actions then
      require('eca.actions.code_actions').attach(event.buf)
    end
  end)
end
vim.api.nvim_create_autocmd({ 'BufWinEnter', 'BufFilePost' }, {
  group = vim.api.nvim_create_augroup('eca.code_actions', {}),
  callback = attach_actions,
})
if vim.v.vim_did_enter == 1 then -- the plugin is loaded late
  attach_actions({ buf = vim.api.nvim_get_current_buf() })
end

-- A session file restores our windows with empty buffers, which would block the names of chats, and
-- with 'sessionoptions' as `localoptions` they look as if they took text and answers.
-- It also prints a line for each of them, for which Neovim waits for a key; a redraw ends that.
vim.api.nvim_create_autocmd('SessionLoadPost', {
  pattern = 'eca://*',
  callback = function(event)
    vim.cmd.redraw()
    vim.schedule(function()
      if vim.api.nvim_buf_is_valid(event.buf) and not vim.b[event.buf].eca_lives then
        vim.api.nvim_buf_delete(event.buf, { force = true })
      end
    end)
  end,
})
