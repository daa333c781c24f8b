--- Lists the files that are open in this Neovim, for the agent.
---
--- Rules kept here: nothing is loaded, opened or changed for it. Only files count: no terminal, no
--- help, no chat.
local paths = require('eca.files.paths')

local M = {}

---@class eca.OpenBuffer
---@field path string
---@field line integer of the cursor, 1-based
---@field modified boolean
---@field visible boolean in a window

--- The open files, the one used last first.
---@return eca.OpenBuffer[]
function M.list()
  local listed = vim.fn.getbufinfo({ buflisted = 1 })
  table.sort(listed, function(left, right)
    return left.lastused > right.lastused
  end)
  local open = {} ---@type eca.OpenBuffer[]
  for _, info in ipairs(listed) do
    local path = paths.of_buffer(info.bufnr)
    if path then
      open[#open + 1] = {
        path = path,
        line = math.max(1, info.lnum),
        modified = info.changed == 1,
        visible = #info.windows > 0,
      }
    end
  end
  return open
end

return M
