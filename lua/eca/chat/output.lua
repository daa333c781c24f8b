--- Shows all of a block's text in a buffer of its own (file type `eca-output`).
---
--- Rules kept here: the text is only to read. It is not saved, never run, and gone with its window.
local decoration = require('eca.transcript.decoration')
local files = require('eca.files')
local highlights = require('eca.ui.highlights')
local others = require('eca.ui.others')
local to_code = require('eca.window.to_code')

local M = {}

---@class eca.Output
---@field chat string
---@field block integer
---@field title string
---@field lines string[]
---@field marks eca.Mark[]
---@field language? string
---@field row integer 0-based row for the cursor

local last = 0

--- The syntax for each language of a body.
local SYNTAX = { json = 'json', diff = 'diff' }

---@param output eca.Output
---@return integer buf
local function write(output)
  local buf = others.create_buf()
  last = last + 1
  files.name(buf, ('output/%d'):format(last))
  vim.bo[buf].bufhidden, vim.bo[buf].modeline, vim.bo[buf].undolevels = 'wipe', false, -1
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, output.lines)
  vim.bo[buf].modifiable = false
  decoration.marks(buf, 0, output.marks or {})
  others.set('FileType', buf, 'filetype', 'eca-output')
  others.set('Syntax', buf, 'syntax', SYNTAX[output.language] or '')
  return buf
end

--- Show the text below a code window; `q` closes it.
---@param output eca.Output
function M.show(output)
  highlights.setup()
  to_code.enter()
  local win = others.open_win(write(output), true, { split = 'below' })
  vim.wo[win][0].winbar = '%#EcaWinbar# ' .. require('eca.ui.sanitize').statusline(output.title)
  vim.api.nvim_win_set_cursor(win, { output.row + 1, 0 })
  vim.cmd('normal! zz')
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = 0, nowait = true, desc = 'eca: close' })
end

return M
