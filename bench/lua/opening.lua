--- The time from `:EcaChat` to its windows on the screen, and to a server that accepts prompts.
local M = {}

local told = {} ---@type number[] ms to the windows, ms to the server

--- Open the chat, and note when its windows are drawn and its server is ready.
function M.open()
  local started = vim.uv.hrtime()
  vim.api.nvim_create_autocmd('User', {
    pattern = 'EcaServerReady',
    once = true,
    callback = function()
      told[2] = (vim.uv.hrtime() - started) / 1e6
    end,
  })
  vim.cmd('EcaChat')
  vim.cmd('redraw')
  told[1] = (vim.uv.hrtime() - started) / 1e6
end

--- Open two empty windows of the same kind in plain Lua.
---@return number ms until they are drawn
function M.open_plain()
  local started = vim.uv.hrtime()
  local win = vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), true, { split = 'right' })
  local input = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_open_win(input, true, { split = 'below', win = win })
  vim.cmd('startinsert')
  vim.cmd('redraw')
  return (vim.uv.hrtime() - started) / 1e6
end

--- Both times; nil until both are known.
---@return number[]? ms
function M.told()
  return told[2] and told or nil
end

return M
