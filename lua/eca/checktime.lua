--- Buffers of files that a tool changed on disk.
---
--- Rules kept here: a buffer without unsaved changes is read again; one with unsaved changes is
--- never touched, the user is told once. Checks come together, once nothing more arrives.
local paths = require('eca.paths')

local M = {}

local DEBOUNCE_MS = 50

local waiting = {} ---@type table<string, true>
local everything = false
local timer = nil ---@type uv.uv_timer_t?

---@param buf integer
---@param file string
local function check(buf, file)
  if vim.bo[buf].modified then
    local name = paths.short(file)
    require('eca.notify').warn(
      name .. ' changed on disk; your unsaved edits are kept. :e! takes the file, :w! your text'
    )
    return
  end
  -- Without autoread, checktime would stop everything with a question.
  local autoread = vim.bo[buf].autoread
  vim.bo[buf].autoread = true
  vim.cmd.checktime(buf)
  vim.bo[buf].autoread = autoread
end

local function check_all()
  local files, all = waiting, everything
  waiting, everything = {}, false
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local file = vim.api.nvim_buf_is_loaded(buf) and paths.of_buffer(buf)
    if file and vim.uv.fs_stat(file) and (files[file] or (all and not vim.bo[buf].modified)) then
      check(buf, file)
    end
  end
end

--- Files changed on disk; none named means that any may have.
---@param changed string[] absolute
function M.files(changed)
  everything = everything or #changed == 0
  for _, path in ipairs(changed) do
    waiting[paths.normalize(path)] = true
  end
  timer = timer or assert(vim.uv.new_timer())
  timer:start(DEBOUNCE_MS, 0, vim.schedule_wrap(check_all))
end

return M
