--- Registers: text goes into the one that the user has named, or comes from there.
---
--- Rule: if a register is empty, or cannot be written (the program of a clipboard fails), one line
--- says so; what was to be yanked is in the unnamed register then.
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')

local M = {}

---@param fault any
---@return string
local function words(fault)
  return (others.words(tostring(fault)):gsub('^E%d+: ', ''))
end

--- Yank text, as `y` does.
---@param text string|string[]
---@param kind? string of the register, default: by characters
---@param name? string default: the one that the user has named
---@return boolean yanked into that register
function M.yank(text, kind, name)
  name = name or vim.v.register
  local yanked, fault = pcall(vim.fn.setreg, name, text, kind or 'v')
  if not yanked then
    vim.fn.setreg('"', text, kind or 'v')
    notify.warn(('not in register %s but in ", press p: %s'):format(name, words(fault)))
  end
  return yanked
end

--- The register that the user has named. That of the clipboard, which 'clipboard' names for them,
--- is not meant: this is no yank, and the clipboard's program may hang.
---@return string
function M.own()
  local options = vim.opt.clipboard:get()
  local named = vim.list_contains(options, 'unnamedplus') and '+'
    or vim.list_contains(options, 'unnamed') and '*'
  return vim.v.register ~= named and vim.v.register or '"'
end

--- Put a register at the cursor, as `p` does.
---@param name string
function M.put(name)
  local put, fault = pcall(vim.cmd.normal, { '"' .. name .. 'p', bang = true })
  if not put then
    notify.warn(words(fault))
  end
end

return M
