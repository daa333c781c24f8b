--- Decorates rows of the transcript by extmarks: colours, bars and indents.
---
--- Rules kept here:
--- - Bars and indents are virtual text, so that they are not yanked.
--- - Marks belong to a block's rows and are cleared before the rows are removed.
local M = {}

local colours = vim.api.nvim_create_namespace('eca.text')
local gutter = vim.api.nvim_create_namespace('eca.gutter')

local PRIORITY, PROSE_PRIORITY = 100, 80
local BAR, USER_BAR = '│ ', '▌ '
--- The margin of wrapped rows, by what is before the first row of the line.
local WRAPPED = { [BAR] = '%#EcaWrap#↳', [USER_BAR] = '%#EcaUserBar#▌' }

---@alias eca.Segment [string, string] text and highlight group
---@alias eca.Mark [integer, integer, integer, string] row of the body, first and last column, group

---@param block eca.Block
---@return [string, string][]? chunks before each row of the body
local function body_gutter(block)
  local indent = ('  '):rep(block.depth)
  if block.kind == 'user' then
    return { { indent .. USER_BAR, 'EcaUserBar' } }
  elseif block.headed then
    return { { indent .. BAR, 'EcaGuide' } }
  elseif indent ~= '' then
    return { { indent, 'EcaGuide' } }
  end
end

---@param buf integer
---@param row integer
---@param chunks [string, string][]
---@param line_group? string
local function put_gutter(buf, row, chunks, line_group)
  vim.api.nvim_buf_set_extmark(buf, gutter, row, 0, {
    virt_text = chunks,
    virt_text_pos = 'inline',
    right_gravity = false,
    line_hl_group = line_group,
  })
end

--- Draw the bar or indent before rows of a block's body.
---@param buf integer
---@param block eca.Block
---@param first integer
---@param last integer inclusive
function M.body(buf, block, first, last)
  local chunks = body_gutter(block)
  if not chunks then
    return
  end
  local line_group = block.kind == 'user' and 'EcaUser' or nil
  for row = first, last do
    put_gutter(buf, row, chunks, line_group)
  end
end

--- The margin of a wrapped row, for 'statuscolumn': an arrow inside blocks, a bar in prompts.
--- Neovim evaluates it with the row's window as the current one.
---@return string
function M.margin()
  local buf, row = vim.api.nvim_get_current_buf(), vim.v.lnum - 1
  local options = { details = true, limit = 1 }
  local mark = vim.api.nvim_buf_get_extmarks(buf, gutter, { row, 0 }, { row, 0 }, options)[1]
  local chunks = mark and mark[4].virt_text
  return chunks and WRAPPED[chunks[1][1]:match('%S+ $')] or ' '
end

--- Draw the indent before a header.
---@param buf integer
---@param block eca.Block
---@param row integer
function M.header_gutter(buf, block, row)
  if block.depth > 0 then
    put_gutter(buf, row, { { ('  '):rep(block.depth), 'EcaGuide' } })
  end
end

--- The text of a header.
---@param segments eca.Segment[]
---@return string
function M.header_text(segments)
  local parts = {} ---@type string[]
  for index, segment in ipairs(segments) do
    parts[index] = segment[1]
  end
  return table.concat(parts)
end

--- Highlight a header that was just written.
---@param buf integer
---@param row integer
---@param segments eca.Segment[]
function M.header(buf, row, segments)
  local column = 0
  for _, segment in ipairs(segments) do
    local last = column + #segment[1]
    if segment[2] ~= '' and last > column then
      vim.api.nvim_buf_set_extmark(buf, colours, row, column, {
        end_col = last,
        hl_group = segment[2],
        priority = PRIORITY,
      })
    end
    column = last
  end
end

--- Highlight parts of a body. A mark to the end of its line highlights the whole row of the window.
---@param buf integer
---@param first integer row of the body's first line
---@param marks eca.Mark[]
---@param prose? boolean highlights of its Markdown take precedence
function M.marks(buf, first, marks, prose)
  for _, mark in ipairs(marks) do
    local row, whole = first + mark[1], mark[3] < 0
    vim.api.nvim_buf_set_extmark(buf, colours, row, mark[2], {
      end_row = whole and row + 1 or row,
      end_col = whole and 0 or mark[3],
      hl_group = mark[4],
      hl_eol = whole,
      priority = prose and PROSE_PRIORITY or PRIORITY,
      strict = false,
    })
  end
end

--- Has a row a text in a highlight group, at a byte column if one is given?
---@param buf integer
---@param row integer
---@param group string
---@param column? integer 0-based
---@return boolean
function M.has(buf, row, group, column)
  local options = { details = true }
  local marks = vim.api.nvim_buf_get_extmarks(buf, colours, { row, 0 }, { row, -1 }, options)
  return vim.iter(marks):any(function(mark)
    local first, text = mark[3], mark[4]
    local holds = not column or (first <= column and (column < text.end_col or text.end_row > row))
    return text.hl_group == group and holds
  end)
end

--- Clear the highlights of a row, but not its bar or indent.
---@param buf integer
---@param row integer
function M.clear_colours(buf, row)
  vim.api.nvim_buf_clear_namespace(buf, colours, row, row + 1)
end

--- Clear all decoration of some rows.
---@param buf integer
---@param first integer
---@param last integer inclusive
function M.clear(buf, first, last)
  vim.api.nvim_buf_clear_namespace(buf, colours, first, last + 1)
  vim.api.nvim_buf_clear_namespace(buf, gutter, first, last + 1)
end

return M
