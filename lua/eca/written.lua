--- Files that the user writes: what changed in them while a command of the agent ran is his.
---
--- Rules kept here: the host is told of each, and is never started for it.

local group = vim.api.nvim_create_augroup('eca.written', {})
vim.api.nvim_create_autocmd({ 'BufWritePost', 'FileWritePost', 'FileAppendPost' }, {
  group = group,
  callback = function(event)
    local path = require('eca.paths').normalize(event.match)
    require('eca.host').mention('wrote', { path = path })
  end,
})
