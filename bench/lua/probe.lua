--- The longest time that Neovim's main loop was busy with one thing.
---
--- A timer of 1 ms does nothing but look at the clock, about 1 µs of work, and keeps the largest
--- gap between two of its calls. Callbacks of timers run in the loop itself: as long as Neovim
--- draws, runs Lua or anything else, none comes.
local M = {}

local timer = assert(vim.uv.new_timer())
local hrtime = vim.uv.hrtime
local last, worst = 0, 0

--- Start to measure anew.
function M.start()
  last, worst = hrtime(), 0
  timer:start(1, 1, function()
    local now = hrtime()
    if now - last > worst then
      worst = now - last
    end
    last = now
  end)
end

--- Stop measuring.
---@return number ms the largest gap
function M.stop()
  timer:stop()
  return math.max(worst, hrtime() - last) / 1e6
end

return M
