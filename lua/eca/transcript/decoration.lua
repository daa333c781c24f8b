--- Decorates rows of the transcript: colours by extmarks, bars and indents in the margin.
---
--- Rules kept here:
--- - Bars are not in the text: they are not yanked, and every row of a long line has them.
--- - All text begins in one column. A nested block has the bar of the block around it in the first
---   cell of the margin.
--- - Marks belong to a block's rows and are cleared before the rows are removed.
local keys = require('eca.ui.keys')
local places = require('eca.transcript.places')

local M = {}

local colours = vim.api.nvim_create_namespace('eca.text')

local PRIORITY, PROSE_PRIORITY = 100, 80

local BAR, USER_BAR = '%#EcaGuide#│%* ', '%#EcaUserBar#▌%#EcaUser# '
local AROUND = { [0] = ' ', '%#EcaGuide#│%*', '%#EcaGuide#║%*' }
local GOES_ON = '%#EcaWrap#↳%*'

---@alias eca.Segment [string, string] text and highlight group
---@alias eca.Mark [integer, integer, integer, string] row of the body, first and last column, group

--- The margin of a row, for 'statuscolumn'. In the body of a block an arrow says that the row goes
--- on with the line above: it could be mistaken for another line.
--- Neovim evaluates it with the row's window as the current one.
---@return string
function M.margin()
  local row = vim.v.lnum - 1
  local block, first = places.drawn_at(vim.api.nvim_get_current_buf(), row)
  if not block then
    return '   '
  end
  local around = AROUND[math.min(block.depth, #AROUND)]
  if block.kind == 'user' then
    return around .. USER_BAR
  elseif block.headed and row > first then
    return (vim.v.virtnum > 0 and GOES_ON or around) .. BAR
  end
  return around .. '  '
end

--- Colour rows of the user's text.
---@param buf integer
---@param first integer
---@param last integer inclusive
function M.user(buf, first, last)
  for row = first, last do
    vim.api.nvim_buf_set_extmark(buf, colours, row, 0, {
      right_gravity = false,
      line_hl_group = 'EcaUser',
    })
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

--- Show after a row which keys run actions; a key that the user has mapped counts first.
---@param buf integer
---@param row integer
---@param actions string[]
function M.keys(buf, row, actions)
  local shown = vim.tbl_map(function(action)
    return keys.of(buf, 'n', action)
  end, actions)
  vim.api.nvim_buf_set_extmark(buf, colours, row, 0, {
    end_col = 0,
    virt_text = { { '  ' .. table.concat(vim.tbl_values(shown), ' '), 'EcaMuted' } },
    virt_text_pos = 'eol',
  })
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
local function has(buf, row, group, column)
  local options = { details = true }
  local marks = vim.api.nvim_buf_get_extmarks(buf, colours, { row, 0 }, { row, -1 }, options)
  return vim.iter(marks):any(function(mark)
    local first, text = mark[3], mark[4]
    if text.hl_group ~= group or not column then -- one of a whole row has no end
      return text.hl_group == group
    end
    return first <= column and (column < text.end_col or text.end_row > row)
  end)
end

--- Is a row a placeholder for omitted lines of a body?
---@param buf integer
---@param row integer
---@return boolean
function M.is_cut(buf, row)
  return has(buf, row, 'EcaMore')
end

--- Is a position on what a tool call is applied to, in its header?
---@param buf integer
---@param row integer
---@param column integer 0-based bytes
---@return boolean
function M.is_target(buf, row, column)
  return has(buf, row, 'EcaToolTarget', column)
end

--- Clear all decoration of some rows.
---@param buf integer
---@param first integer
---@param last integer inclusive
function M.clear(buf, first, last)
  vim.api.nvim_buf_clear_namespace(buf, colours, first, last + 1)
end

return M
