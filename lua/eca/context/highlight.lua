--- Colours context tokens in the inputs while a row is drawn: what is coloured will be sent.
---
--- Rules kept here: nothing is stored, so nothing can differ from the text. The cost depends on the
--- rows on the screen alone.
local tokens = require('eca.context.tokens')

local namespace = vim.api.nvim_create_namespace('eca.context.highlight')

vim.api.nvim_set_decoration_provider(namespace, {
  on_win = function(_, _, buf)
    return vim.bo[buf].filetype == 'eca-input'
  end,
  on_line = function(_, _, buf, row)
    local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
    for _, token in ipairs(line:find('@', 1, true) and tokens.find(line) or {}) do
      vim.api.nvim_buf_set_extmark(buf, namespace, row, token.first - 1, {
        end_col = token.last,
        hl_group = 'EcaContext',
        ephemeral = true,
      })
    end
  end,
})
