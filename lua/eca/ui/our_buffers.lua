--- Creates our own buffers, and announces some, so that rooms above can add what they need, such as
--- keys.
---
--- Rules kept here:
--- - Every unlisted buffer is created here. It can be changed, also in `nvim -M`.
--- - The announcement is an event of Neovim, `User eca.buffer`, so that `plugin/eca.lua` can listen
---   before anything of the plugin is loaded. Code that creates a buffer knows no listener.
local others = require('eca.ui.others')

local M = {}

---@alias eca.BufferKind 'chat'|'input'|'changes'

---@class eca.OurBuffer data of the event `User eca.buffer`
---@field buf integer
---@field kind eca.BufferKind

--- Create an unlisted buffer without a file.
---@return integer buf
function M.create()
  local buf = others.call('BufNew', function()
    return vim.api.nvim_create_buf(false, true)
  end)
  vim.bo[buf].modifiable = true
  return buf
end

--- Announce a new buffer that has its name and file type. All listeners have run when this returns.
---@param buf integer
---@param kind eca.BufferKind
function M.announce(buf, kind)
  local data = { buf = buf, kind = kind } ---@type eca.OurBuffer
  local options = { pattern = 'eca.buffer', modeline = false, data = data }
  others.call('User eca.buffer', vim.api.nvim_exec_autocmds, 'User', options)
end

return M
