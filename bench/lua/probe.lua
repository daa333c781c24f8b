--- The longest time that Neovim's main loop was busy with one thing.
---
--- A timer of 1 ms only reads two clocks, about 5 us of work, and keeps the largest gap between two
--- of its calls. Timers run in the main loop: while Neovim draws, runs Lua, waits for a file or
--- anything else, no timer runs. The time in which Neovim was ready but had no processor is counted
--- separately: it was not busy then.
local M = {}

local timer = assert(vim.uv.new_timer())
local hrtime = vim.uv.hrtime
local scheduler = assert(vim.uv.fs_open('/proc/self/schedstat', 'r', 0))

local last, last_waited = 0, 0
local worst = 0

--- How long this thread has waited for a processor so far (ns), the second number of the file.
---@return number
local function waited()
  local line = assert(vim.uv.fs_read(scheduler, 80, 0))
  return tonumber(line:match('^%d+ (%d+)')) --[[@as number]]
end

local function look()
  local now, waited_now = hrtime(), waited()
  worst = math.max(worst, now - last - (waited_now - last_waited))
  last, last_waited = now, waited_now
end

--- Start to measure anew.
function M.start()
  last, last_waited = hrtime(), waited()
  worst = 0
  timer:start(1, 1, look)
end

--- Stop measuring.
---@return number ms of the longest stall
function M.stop()
  timer:stop()
  look()
  return worst / 1e6
end

return M
