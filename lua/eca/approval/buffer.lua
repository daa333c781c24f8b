--- The buffer of the approval float: its text, and the options of its window.
---
--- Rules kept here: the margin of every screen row shows who wrote it, and no text can reach the
--- margin: blank before our own rows, a bar before the agent's, an arrow where a line wraps.
local consent_window = require('eca.consent.window')
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')

local M = {}

local BAR, WRAPPED = '│ ', '↳ '
local BAR_CELLS = 2
--- Cells of the margin before every row.
local MARGIN = 1
local REST = 'the rest is in the chat'

local namespace = vim.api.nvim_create_namespace('eca.prompt')
local breaks = vim.api.nvim_create_namespace('eca.prompt.breaks')

--- Cells of the widest line, with its margin.
---@param content eca.PromptContent
---@return integer
function M.columns(content)
  local widest = 0
  for row, line in ipairs(content.lines) do
    local quoted = row > content.quoted[1] and row <= content.quoted[2] + 1
    local margin = quoted and MARGIN + BAR_CELLS or MARGIN
    widest = math.max(widest, margin + vim.fn.strdisplaywidth(line) + 1)
  end
  return widest
end

--- Write the text of a request.
---@param buf integer
---@param content eca.PromptContent
---@param short? boolean the chat shows what the agent wrote
function M.fill(buf, content, short)
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  local lines = vim.tbl_map(function(line)
    return (line:gsub('\n', ' '))
  end, content.lines)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  for _, mark in ipairs(content.marks) do
    local whole = mark[3] < 0
    vim.api.nvim_buf_set_extmark(buf, namespace, mark[1], mark[2], {
      end_row = whole and mark[1] + 1 or mark[1],
      end_col = whole and 0 or mark[3],
      hl_group = mark[4],
      hl_eol = whole,
      strict = false,
    })
  end
  -- Mark the rows that the agent wrote. No other margin of Neovim can differ from row to row and is
  -- counted when a window is measured.
  for row = content.quoted[1], content.quoted[2] do
    vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, {
      virt_text = { { BAR, 'EcaGuide' } },
      virt_text_pos = 'inline',
      right_gravity = false,
    })
  end
  if short and content.quoted[1] == 0 then
    -- Where the request is: the agent's first row alone could be taken for all of it.
    vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, { REST })
    vim.api.nvim_buf_set_extmark(buf, namespace, 0, 0, { end_col = #REST, hl_group = 'EcaMuted' })
  end
  vim.bo[buf].modifiable = false
end

--- Create a buffer with the text of a request.
---@param content eca.PromptContent
---@return integer buf
function M.write(content)
  local buf = others.create_buf()
  vim.bo[buf].bufhidden = 'wipe'
  M.fill(buf, content)
  -- After a key that begins an edit, as `d`, Neovim takes the next one for a motion, and the answer
  -- is lost. What a request has keys for is mapped later.
  for key in ('aAcCdDiIoOpPrRsSxX'):gmatch('.') do
    vim.keymap.set('n', key, function()
      notify.info(key .. ' does nothing for this request: g? lists its keys')
    end, { buffer = buf, nowait = true })
  end
  return buf
end

--- The words of a line that would be cut by the end of a row, and the cells left before that.
---@param line string
---@param room integer cells of a row
---@return [integer, integer][] byte columns and cells
local function cut_words(line, room)
  local found, column, last = {}, 0, 1 ---@type [integer, integer][], integer, integer
  for first, word, after in line:gmatch('()(%S+)()') do
    local cells = vim.api.nvim_strwidth(word)
    column = column + first - last
    if column < room and column + cells > room and cells <= room - BAR_CELLS then
      found[#found + 1] = { first - 1, room - column }
      column = room
    end
    column, last = column + cells, after
    while column > room do
      column = column - room + BAR_CELLS -- the arrow before the next row
    end
  end
  return found
end

--- Break our own rows at blanks. Those of the agent are full.
---@param buf integer
---@param content eca.PromptContent
---@param width integer of the window
function M.break_rows(buf, content, width)
  vim.api.nvim_buf_clear_namespace(buf, breaks, 0, -1)
  for row = 1, content.quoted[1] do
    for _, cut in ipairs(cut_words(content.lines[row], width - MARGIN)) do
      vim.api.nvim_buf_set_extmark(buf, breaks, row - 1, cut[1], {
        virt_text = { { (' '):rep(cut[2]), 'EcaFloat' } },
        virt_text_pos = 'inline',
      })
    end
  end
end

local COLOURS =
  'NormalFloat:EcaFloat,FloatBorder:EcaFloatBorder,FoldColumn:EcaFloat,NonText:EcaWrap'

--- Set the options of the window. The agent's rows are full, because one that ended after the `/`
--- of `rm -r build/ x` would hide the blank.
---@param win integer
function M.set_window_options(win)
  consent_window.set(win, {
    winhighlight = COLOURS,
    foldcolumn = '1', -- a margin, also before wrapped rows
    list = true,
    showbreak = WRAPPED,
    winbar = '', -- it would take a row
  })
end

return M
