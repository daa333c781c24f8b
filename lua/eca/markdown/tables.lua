--- Aligns Markdown tables when they are complete.
---
--- Rules kept here:
--- - The text stays as the model wrote it: cells are padded with virtual text, which moves with its
---   row and is not yanked.
--- - Only visible text counts: hidden markers have no width. A table that would be wider than its
---   window stays as it is, because wrapped rows have no columns.
--- - `fences.lua` finds the tables of what is drawn. Each is aligned once, as soon as it is drawn.
local blocks = require('eca.transcript.blocks')
local markdown_line = require('eca.markdown.line')
local places = require('eca.transcript.places')

local M = {}

M.namespace = vim.api.nvim_create_namespace('eca.tables')

local LONGEST = 500 -- rows
local WIDEST = 2000 -- bytes of a row: a longer one does not fit into any window

---@class eca.markdown.Cell
---@field last integer 0-based byte column of the bar after it
---@field first integer 0-based byte column after the bar before it
---@field width integer cells on the screen

--- The columns of the bars between cells.
---@param line string
---@return integer[] columns 0-based
local function bars(line)
  local found = {} ---@type integer[]
  for at in line:gmatch('()|') do
    found[#found + 1] = line:sub(at - 1, at - 1) ~= '\\' and at - 1 or nil
  end
  return found
end

--- The width of a text in cells. Plain ASCII, the most frequent case, is checked first, because
--- that is much faster.
---@param text string
---@return integer
local function display_width(text)
  return text:find('[^ -~]') and vim.fn.strdisplaywidth(text) or #text
end

---@param line string
---@param columns integer[] of its bars
---@return eca.markdown.Cell[]
local function cells_of(line, columns)
  local parsed = markdown_line.parse(line)
  local cells = {} ---@type eca.markdown.Cell[]
  for index = 2, #columns do
    local first, last = columns[index - 1] + 1, columns[index]
    local width = display_width(line:sub(first + 1, last))
    for _, region in ipairs(parsed and parsed.regions or {}) do
      if region.conceal and region.first >= first and region.last <= last then
        local hidden = display_width(line:sub(region.first + 1, region.last))
        width = width - hidden + display_width(region.conceal)
      end
    end
    cells[index - 1] = { first = first, last = last, width = width }
  end
  return cells
end

--- The alignment of a column, from the row of dashes.
---@param text string
---@return 'left'|'right'|'center'
local function alignment(text)
  -- late: only needed for a table
  local dashes = require('eca.text.scan').trim(text)
  local left, right = dashes:sub(1, 1) == ':', dashes:sub(-1) == ':'
  return left and right and 'center' or (right and 'right' or 'left')
end

---@param buf integer
---@param row integer
---@param column integer
---@param text string
---@param where? 'inline'|'overlay'
local function fill(buf, row, column, text, where)
  if text ~= '' then
    vim.api.nvim_buf_set_extmark(buf, M.namespace, row, column, {
      end_col = column + 1,
      virt_text = { { text, 'EcaTableBorder' } },
      virt_text_pos = where or 'inline',
      right_gravity = false,
      invalidate = true,
      undo_restore = false,
    })
  end
end

---@param buf integer
---@param row integer
---@param line string
---@param cells eca.markdown.Cell[]
---@param widths integer[]
---@param sides ('left'|'right'|'center')[]
local function fill_row(buf, row, line, cells, widths, sides)
  for index, cell in ipairs(cells) do
    local room = widths[index] - cell.width
    local before = sides[index] == 'right' and room or 0
    before = sides[index] == 'center' and math.floor(room / 2) or before
    local blank = line:find('^ ', cell.last) and 1 or 0
    fill(buf, row, cell.first, (' '):rep(before))
    fill(buf, row, cell.last - blank, (' '):rep(room - before))
  end
end

--- Draw the rule below the head of a table over its row of dashes.
---@param buf integer
---@param row integer
---@param cells eca.markdown.Cell[]
---@param widths integer[]
local function draw_rule(buf, row, cells, widths)
  if not cells[1] or display_width('─') > 1 then
    return -- 'ambiwidth' is double
  end
  local dashes = vim.tbl_map(function(width)
    return ('─'):rep(width)
  end, widths)
  fill(buf, row, cells[1].first - 1, '├' .. table.concat(dashes, '┼') .. '┤', 'overlay')
end

---@param rows eca.markdown.Cell[][]
---@return integer[] of each column
---@return integer total, with bars
local function widths_of(rows)
  local widths, total = {}, 1
  for _, cells in ipairs(rows) do
    for index, cell in ipairs(cells) do
      widths[index] = math.max(widths[index] or 0, cell.width)
    end
  end
  for _, width in ipairs(widths) do
    total = total + width + 1
  end
  return widths, total
end

--- Is there room for rows of this width in all windows of a buffer?
---@param buf integer
---@param width integer cells
---@return boolean
local function fits(buf, width)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if width > vim.api.nvim_win_get_width(win) - vim.fn.getwininfo(win)[1].textoff then
      return false
    end
  end
  return width <= vim.o.columns
end

---@param buf integer
---@param first integer
---@param count integer rows
local function align(buf, first, count)
  local lines = vim.api.nvim_buf_get_lines(buf, first, first + math.min(count, LONGEST + 1), false)
  local ruler = lines[2]
  if not ruler or #lines > LONGEST or not (ruler:find('^[%s|:-]+$') and ruler:find('-')) then
    return
  end
  local rows = {} ---@type eca.markdown.Cell[][]
  for index, line in ipairs(lines) do
    local columns = #line <= WIDEST and bars(line) or nil
    if not columns or #columns > vim.o.columns then
      return -- no window is that wide
    end
    rows[index] = cells_of(line, columns)
  end
  local widths, total = widths_of(rows)
  if not fits(buf, total) then
    return
  end
  local sides = vim.tbl_map(function(cell)
    return alignment(ruler:sub(cell.first + 1, cell.last))
  end, rows[2])
  for index, cells in ipairs(rows) do
    if index == 2 then
      draw_rule(buf, first + 1, cells, widths)
    else
      fill_row(buf, first + index - 1, lines[index], cells, widths, sides)
    end
  end
end

--- Align the tables among some visible rows, each once, as soon as the screen is drawn: until then
--- the buffer cannot be changed.
---@param buf integer
---@param written eca.WrittenBlock[]
---@param top integer
---@param bottom integer
function M.request(buf, written, top, bottom)
  for _, each in ipairs(written) do
    local block, reading = each.block, each.block.reading
    for index = reading and #reading.tables or 0, 1, -1 do
      local it = reading.tables[index]
      local first = each.first + it.first
      if first <= bottom and first + it.rows > top then
        table.remove(reading.tables, index)
        vim.schedule(function()
          local chain = places.chains[buf]
          if chain and chain.blocks[block.id] == block and block.reading == reading then
            align(buf, blocks.first_row(chain, block) + it.first, it.rows)
          end
        end)
      end
    end
  end
end

return M
