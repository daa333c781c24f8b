--- Random ids for chats (UUID version 4).
local M = {}

--- A new id, in the usual form of 36 characters.
---@return string
function M.new()
  local bytes = { assert(vim.uv.random(16)):byte(1, 16) }
  bytes[7] = bytes[7] % 16 + 0x40
  bytes[9] = bytes[9] % 64 + 0x80
  local digits = ('%02x'):rep(16):format(unpack(bytes))
  return (digits:gsub('^(%x%x%x%x%x%x%x%x)(%x%x%x%x)(%x%x%x%x)(%x%x%x%x)', '%1-%2-%3-%4-'))
end

return M
