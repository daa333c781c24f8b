--- Which rows of a window's text were on the screen, from the first row on without a gap.
---
--- Rule: a row is a row of the screen: a long line has many. A jump to the end shows the end alone.
local M = {}

---@class eca.SeenRows
---@field look fun(): integer, integer notes what is on the screen; returns how many rows were never
---  on it, and how many are below its last one

--- Watch a window whose text does not change.
---@param win integer
---@return eca.SeenRows
function M.watch(win)
  local seen, width = 0, 0
  local function look()
    local columns = vim.api.nvim_win_get_width(win)
    if columns ~= width then
      seen, width = 0, columns -- the text has other rows now
    end
    local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
    local from = { start_row = view.topline - 1, start_vcol = view.skipcol }
    local all = vim.api.nvim_win_text_height(win, {}).all
    local above = all - vim.api.nvim_win_text_height(win, from).all
    local last = math.min(all, above + vim.api.nvim_win_get_height(win))
    if above <= seen then
      seen = math.max(seen, last)
    end
    return all - seen, all - last
  end
  return { look = look }
end

return M
