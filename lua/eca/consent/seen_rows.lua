--- Which rows of a window's text are drawn as text now, and which ever were in this window.
---
--- Rules kept here:
--- - A row is a row of the screen: a long line has many. What is drawn in part counts as not drawn:
---   beyond the right edge, in a closed fold, under another float, or where Neovim writes marks of
---   its own over the text.
--- - A jump to the end shows the end alone.
local M = {}

---@class eca.DrawnLine
---@field first integer its first row on the screen, 1: that with its beginning
---@field last integer its last row on the screen; less than `first`: none
---@field rows integer

---@class eca.DrawnView
---@field win integer
---@field columns integer of the text
---@field height integer
---@field topline integer
---@field topfill integer
---@field skipcol integer
---@field nowrap? integer first column on the screen, if lines do not wrap
---@field covered table<integer, true> rows of the window under other floats, the first one is 0

---@param win integer
---@return integer
local function height_of_border(win)
  local border = vim.api.nvim_win_get_config(win).border
  return border and border ~= 'none' and 1 or 0
end

--- The rows of a window's text that floats above it cover, at least in part.
---@param win integer
---@param info vim.fn.getwininfo.ret.item
---@param ignored? integer another window that covers nothing
---@return table<integer, true>
local function covered(win, info, ignored)
  local rows = {} ---@type table<integer, true>
  local height = vim.api.nvim_win_get_config(win).zindex or 0
  local corner, border = vim.api.nvim_win_get_position(win), height_of_border(win)
  local top, left = corner[1] + border + info.winbar, corner[2] + border
  for _, other in ipairs(vim.api.nvim_tabpage_list_wins(vim.api.nvim_win_get_tabpage(win))) do
    local config = vim.api.nvim_win_get_config(other)
    local above = config.relative ~= '' and config.zindex and config.zindex >= height
    if above and not config.hide and other ~= win and other ~= ignored then
      local frame, at = 2 * height_of_border(other), vim.api.nvim_win_get_position(other)
      if at[2] < left + info.width and at[2] + config.width + frame > left then
        for row = at[1], at[1] + config.height + frame - 1 do
          rows[row - top] = true
        end
      end
    end
  end
  return rows
end

---@param win integer
---@param ignored? integer
---@return eca.DrawnView
local function view_of(win, ignored)
  local info = vim.fn.getwininfo(win)[1]
  local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
  return {
    win = win,
    columns = info.width - info.textoff,
    height = info.height,
    topline = view.topline,
    topfill = view.topfill or 0,
    skipcol = view.skipcol or 0,
    nowrap = not vim.wo[win].wrap and view.leftcol or nil,
    covered = covered(win, info, ignored),
  }
end

--- The rows of a line that are drawn.
---@param view eca.DrawnView
---@param lnum integer
---@param at integer row of the window where it begins
---@param rows integer of the line
---@return eca.DrawnLine
---@return integer taken rows of the window
local function line_at(view, lnum, at, rows)
  local top, skipped = lnum == view.topline, 0
  if top and view.skipcol > 0 then
    local rest = { start_row = lnum - 1, end_row = lnum - 1, start_vcol = view.skipcol }
    skipped = rows - vim.api.nvim_win_text_height(view.win, rest).all
  end
  local line = { first = skipped + 1, last = rows, rows = rows } ---@type eca.DrawnLine
  local room = view.height - at
  if rows - skipped > room then
    local display = vim.o.display
    local begun = display:find('lastline') or display:find('truncate')
    line.last = skipped + (top and room or begun and room - 1 or 0)
  end
  local showbreak = vim.wo[view.win].showbreak
  if skipped > 0 and (showbreak == '' or showbreak == 'NONE') then
    line.first = line.first + 1 -- Neovim writes marks over the first row, as its line began above
  end
  if view.nowrap then
    local text =
      vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(view.win), lnum - 1, lnum, false)
    local cells = vim.api.nvim_win_call(view.win, function()
      return vim.fn.strdisplaywidth(text[1] or '')
    end)
    line.last = (view.nowrap > 0 or cells > view.columns) and 0 or line.last
  end
  for row = line.first, line.last do
    if view.covered[at + row - skipped - 1] then
      line.last = row - 1 -- what is below a float counts when it is gone
      break
    end
  end
  return line, rows - skipped
end

--- The lines of a window that are drawn at least in part, and the columns of its text.
---@param win integer
---@param ignored? integer a float that covers nothing, because it makes way
---@return table<integer, eca.DrawnLine> lines by their 1-based numbers
---@return integer columns
function M.drawn(win, ignored)
  local view = view_of(win, ignored)
  local lines = {} ---@type table<integer, eca.DrawnLine>
  local lnum, at = view.topline, view.topfill
  local count = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win))
  while lnum <= count and at < view.height do
    local fold = vim.api.nvim_win_call(win, function()
      return vim.fn.foldclosedend(lnum)
    end)
    local size = vim.api.nvim_win_text_height(win, { start_row = lnum - 1, end_row = lnum - 1 })
    local fill = size.fill or 0
    at = at + (lnum == view.topline and 0 or fill)
    local taken = 1
    if fold < 0 then
      lines[lnum], taken = line_at(view, lnum, at, size.all - fill)
    end
    lnum, at = math.max(lnum, fold) + 1, at + taken
  end
  return lines, view.columns
end

---@alias eca.Lines [integer, integer] first and last line, 1-based

--- Notes what is on the screen. Returns how many rows were never on it, and how many are below its
--- last one.
---@alias eca.SeenRows fun(): integer, integer

--- The number of rows of some lines. Rows without text, as diffs have them, do not count.
---@param win integer
---@param lines eca.Lines
---@return integer
local function height(win, lines)
  local wanted = { start_row = lines[1] - 1, end_row = lines[2] - 1 }
  local size = vim.api.nvim_win_text_height(win, wanted)
  return size.all - (size.fill or 0)
end

--- Rows below the last one that is drawn.
---@param win integer
---@param drawn table<integer, eca.DrawnLine>
---@return integer
local function below(win, drawn)
  local last = math.max(0, unpack(vim.tbl_keys(drawn)))
  local count = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win))
  local rest = last < count and height(win, { last + 1, count }) or 0
  return rest + (drawn[last] and drawn[last].rows - drawn[last].last or 0)
end

---@param lines eca.Lines[]
---@param lnum integer
---@return boolean
local function has(lines, lnum)
  return vim.iter(lines):any(function(each)
    return each[1] <= lnum and lnum <= each[2]
  end)
end

--- Watch a window whose text does not change.
---@param win integer
---@param wanted? fun(): eca.Lines[] the lines that matter, default: all
---@return eca.SeenRows
function M.watch(win, wanted)
  local width, left = -1, 0
  local lines, seen = {}, {} ---@type eca.Lines[], table<string, true>
  return function()
    local drawn, columns = M.drawn(win)
    if columns ~= width then -- the text has other rows now
      local count = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win))
      width, left, lines, seen = columns, 0, wanted and wanted() or { { 1, count } }, {}
      for _, each in ipairs(lines) do
        left = left + height(win, each)
      end
    end
    for lnum, line in pairs(drawn) do
      for row = line.first, has(lines, lnum) and line.last or 0 do
        local name = lnum .. ' ' .. row
        left = left - (seen[name] and 0 or 1)
        seen[name] = true
      end
    end
    return math.max(0, left), below(win, drawn)
  end
end

return M
