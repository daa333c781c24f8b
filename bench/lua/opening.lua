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

--- Both times; nil until both are known.
---@return number[]? ms
function M.told()
  return told[2] and told or nil
end

return M
