--- The least that completes contexts: a list of paths in Neovim, `matchfuzzy()` and `complete()`.
---
--- It works in a scratch buffer, after an `@`, for each change of the text. No host, no commands.
local M = {}

--- Items in the menu.
local MOST = 200

---@param paths string[]
---@param query string
---@return string[]
local function matching(paths, query)
  if query == '' then
    return vim.list_slice(paths, 1, MOST)
  end
  return vim.fn.matchfuzzy(paths, query, { limit = MOST })
end

--- Show a window beside the current one, in which this list is completed.
---@param paths string[]
function M.open(paths)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_open_win(buf, true, { split = 'right', width = 64 })
  vim.o.completeopt = 'menuone,noselect'
  local last ---@type string?
  vim.api.nvim_create_autocmd({ 'TextChangedI', 'TextChangedP' }, {
    buffer = buf,
    callback = function()
      local line = vim.api.nvim_get_current_line()
      local query = line:match('@(%S*)$')
      if query and line ~= last then
        last = line
        vim.fn.complete(#line - #query + 1, matching(paths, query))
      end
    end,
  })
end

return M
