--- A block's whole text in a buffer of its own (file type `eca-output`); and the chat as Markdown,
--- in a buffer or a file.
---
--- Rules kept here:
--- - The text of a block is only to read. It is not saved, never run, and gone with its window.
--- - An existing file is overwritten only if the user says so.
local decoration = require('eca.transcript.decoration')
local files = require('eca.files')
local highlights = require('eca.ui.highlights')
local others = require('eca.ui.others')
local return_window = require('eca.ui.return_window')
local to_code = require('eca.window.to_code')

local M = {}

---@class eca.Output
---@field chat string
---@field block integer
---@field title string
---@field lines string[]
---@field marks? eca.Mark[]
---@field language? string
---@field row? integer 0-based row for the cursor, default: 0

local last = 0
local asked ---@type eca.Asked? since the user has asked for a block's text

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

--- Ask for a block's whole text, which comes as the op `output`.
---@param chat string
---@param block integer
---@param row integer 0-based, for the cursor
function M.open(chat, block, row)
  asked = return_window.asked()
  require('eca.host').send('output', { chat = chat, block = block, row = row })
end

--- Show the text below a code window; `q` closes it.
---@param output eca.Output
function M.show(output)
  if not return_window.may_focus(asked, 'the text') then
    return
  end
  highlights.setup()
  to_code.enter()
  local win = others.split(write(output), { split = 'below' })
  vim.wo[win][0].winbar = '%#EcaWinbar# ' .. require('eca.ui.sanitize').statusline(output.title)
  vim.api.nvim_win_set_cursor(win, { (output.row or 0) + 1, 0 })
  vim.cmd('normal! zz')
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = 0, nowait = true, desc = 'eca: close' })
end

--- Show lines of Markdown in a buffer that the user may write.
---@param lines string[]
function M.show_markdown(lines)
  to_code.enter()
  others.split_by('new')
  vim.bo.modifiable = true -- it is not in `nvim -M`
  vim.bo.bufhidden, vim.bo.swapfile, vim.bo.modeline = 'wipe', false, false
  vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
  vim.bo.filetype, vim.bo.modified = 'markdown', false
end

---@param lines string[]
---@param path string
local function write_file(lines, path)
  local written, fault = pcall(files.write, path, lines)
  if written then
    require('eca.ui.notify').info(('%d lines written to %s'):format(#lines, path))
  else
    require('eca.ui.notify').warn((tostring(fault):gsub('^.-E%d+: ', '')))
  end
end

--- Export the current chat.
---@param file? string default: a buffer
---@param overwrite? boolean
function M.export(file, overwrite)
  local path = file and vim.fs.normalize(vim.fn.fnamemodify(vim.fs.normalize(file), ':p'))
  if path and vim.uv.fs_stat(path) and not overwrite then
    require('eca.ui.notify').warn(
      ('%s already exists; :Eca export! … overwrites it'):format(file)
    )
    return
  end
  local chat = require('eca.window').current_chat() or require('eca.chat.buffers').new()
  local since = return_window.asked()
  require('eca.host').ask('transcript', { chat = chat }, function(markdown)
    if not markdown then -- the host is gone
      return
    end
    local lines = vim.split((markdown:gsub('\n$', '')), '\n', { plain = true })
    if path then
      write_file(lines, path)
    elseif return_window.may_focus(since, 'the text') then
      M.show_markdown(lines)
    end
  end)
end

return M
