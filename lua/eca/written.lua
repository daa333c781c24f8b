--- Files that the user writes: what changed in them while a command of the agent ran is his.
---
--- Rules kept here:
--- - The host is told of each before and after it is written, and is never started for it.
--- - What an autocommand writes tells no other autocommand: that is seen afterwards.
local group = vim.api.nvim_create_augroup('eca.written', {})

---@class eca.Saved
---@field tick integer `b:changedtick` when it was looked at
---@field count integer how often the buffer was written

local saved = {} ---@type table<integer, eca.Saved> by buffer

---@param path string
---@param done boolean
local function tell(path, done)
  local normal = require('eca.paths').normalize(path)
  require('eca.host').mention('wrote', { path = normal, done = done })
end

vim.api.nvim_create_autocmd({ 'BufWritePre', 'FileWritePre', 'FileAppendPre' }, {
  group = group,
  callback = function(event)
    tell(event.match, false)
    vim.schedule(function() -- also when it could not be written
      tell(event.match, true)
    end)
  end,
})

vim.api.nvim_create_autocmd({ 'BufWritePost', 'FileWritePost', 'FileAppendPost' }, {
  group = group,
  callback = function(event)
    tell(event.match, true)
  end,
})

--- Look whether a buffer was written since it was looked at last.
---@param buf integer
local function look(buf)
  local tick, known = vim.api.nvim_buf_get_changedtick(buf), saved[buf]
  if vim.bo[buf].modified or (known and known.tick == tick) then
    return
  end
  local count = vim.fn.undotree(buf).save_last
  saved[buf] = { tick = tick, count = count }
  if known and count > known.count then
    tell(vim.api.nvim_buf_get_name(buf), true)
  end
end

vim.api.nvim_create_autocmd('SafeState', {
  group = group,
  callback = function()
    for _, buf in ipairs(vim.api.nvim_list_bufs()) do
      if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == '' then
        look(buf)
      end
    end
  end,
})
