--- Keeps inline code together where it fits into a row.
---
--- Rules kept here:
--- - Neovim breaks a line after any character of 'breakat', also within code, and that option is
---   global. Blanks of virtual text before the code fill its row, so that it begins the next one.
--- - No line gets more rows by it: what is on the screen would move.
--- - Each code of a line that is drawn is looked at once, and again at another width: a mark notes
---   that. In several windows a buffer could have several widths: there nothing is done.
local M = {}

M.namespace = vim.api.nvim_create_namespace('eca.unbroken')

---@class eca.markdown.CodeLine
---@field win integer
---@field row integer
---@field line string
---@field codes eca.markdown.Region[]

local waiting = {} ---@type eca.markdown.CodeLine[]

---@param buf integer
---@param row integer
---@param column integer
---@param text string
---@return integer extmark
local function mark(buf, row, column, text)
  return vim.api.nvim_buf_set_extmark(buf, M.namespace, row, column, {
    end_col = column + 1,
    virt_text = { { text } },
    virt_text_pos = 'inline',
    right_gravity = false,
    invalidate = true,
    undo_restore = false,
  })
end

--- Move code to the next row if it would be broken.
---@param win integer
---@param buf integer
---@param row integer
---@param code eca.markdown.Region
local function keep(win, buf, row, code)
  local cells, column = vim.b[buf].eca_code_cells, code.first - 1 -- of its marker
  local at, lines = { row, column }, { start_row = row, end_row = row }
  if #vim.api.nvim_buf_get_extmarks(buf, M.namespace, at, at, {}) > 0 then
    return
  end
  local from = vim.fn.virtcol({ row + 1, column + 1 }, true, win)[1] - 1
  local to = vim.fn.virtcol({ row + 1, code.last + 1 }, true, win)[2] - 1
  local is_broken = math.floor(from / cells) < math.floor(to / cells) and to - from < cells
  local height = is_broken and vim.api.nvim_win_text_height(win, lines).all
  local id = mark(buf, row, column, (' '):rep(is_broken and cells - from % cells or 0))
  if is_broken and vim.api.nvim_win_text_height(win, lines).all > height then
    vim.api.nvim_buf_del_extmark(buf, M.namespace, id)
    mark(buf, row, column, '')
  end
end

--- The cells of a row of text; 0 if lines are not broken at words.
---@param win integer
---@param margin integer
---@return integer
local function cells_of(win, margin)
  local breaks = vim.wo[win].wrap and vim.wo[win].linebreak
  return breaks and vim.api.nvim_win_get_width(win) - margin or 0
end

---@param margin integer
local function work(margin)
  local lines = waiting
  waiting = {}
  for _, each in ipairs(lines) do
    local win, row = each.win, each.row
    local buf = vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win)
    local same = buf and vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] == each.line
    if same and #vim.fn.win_findbuf(buf) == 1 then
      local cells = cells_of(win, margin)
      if vim.b[buf].eca_code_cells ~= cells then
        vim.api.nvim_buf_clear_namespace(buf, M.namespace, 0, -1)
        vim.b[buf].eca_code_cells = cells -- for which it was looked at
      end
      for _, code in ipairs(cells > 0 and each.codes or {}) do
        keep(win, buf, row, code)
      end
    end
  end
end

--- Called when a line with inline code is drawn.
---@param win integer
---@param buf integer
---@param row integer
---@param line string
---@param regions eca.markdown.Region[]
---@param margin integer cells left of the text
function M.request(win, buf, row, line, regions, margin)
  local cells, known_cells = cells_of(win, margin), vim.b[buf].eca_code_cells
  if #line <= cells and (known_cells or cells) == cells then
    return
  end
  local codes = vim.tbl_filter(function(region)
    return region.group == 'EcaCode'
  end, regions)
  local known = vim.api.nvim_buf_get_extmarks(buf, M.namespace, { row, 0 }, { row, -1 }, {})
  if #known >= #codes and known_cells == cells then
    return
  end
  waiting[#waiting + 1] = { win = win, row = row, line = line, codes = codes }
  if #waiting == 1 then
    vim.schedule(function()
      work(margin)
    end)
  end
end

return M
