--- Tells that a buffer of ours has come up: those above give it what it needs, such as keys.
---
--- Rules kept here: it is an event of Neovim, `User eca.buffer`, so that `plugin/eca.lua` can
--- listen while nothing of the plugin is loaded. What makes a buffer knows no listener.
local M = {}

---@alias eca.BufferKind 'chat'|'input'|'changes'

---@class eca.OurBuffer data of the event `User eca.buffer`
---@field buf integer
---@field kind eca.BufferKind

--- A buffer of ours is there, with its name and file type. What listens has run when this returns.
---@param buf integer
---@param kind eca.BufferKind
function M.made(buf, kind)
  local data = { buf = buf, kind = kind } ---@type eca.OurBuffer
  vim.api.nvim_exec_autocmds('User', { pattern = 'eca.buffer', modeline = false, data = data })
end

return M
