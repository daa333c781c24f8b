--- What agents read and write through Neovim: the files that are loaded in its buffers.
---
--- Rules kept here:
--- - Unsaved text counts: the agent reads it, and its write keeps it.
--- - A write changes only what differs and is one undo step. Cursor, marks and folds stay where
---   they are.
--- - Autocommands that run before a write, such as formatters, do not run: the file gets the text
---   that was approved. Those after it do, so that language servers know.
--- - Nothing is written over a text that the agent has not read, nor over a file that somebody
---   else changed.
local disk_check = require('eca.editor.checktime')
local files = require('eca.files')
local notify = require('eca.ui.notify')
local others = require('eca.ui.others')
local paths = require('eca.files.paths')
local user_writes = require('eca.editor.user_writes')

local M = {}

local ENDINGS = { dos = '\r\n', mac = '\r', unix = '\n' }

--- 0.12 has renamed it.
local diff = vim.text and vim.text.diff or vim.diff

--- Is a buffer of one empty line completely empty, or does it have a line break?
---@param buf integer
---@return boolean
local function is_empty(buf)
  return vim.api.nvim_buf_call(buf, function()
    return vim.fn.line2byte(2) == -1
  end)
end

--- The text of a loaded buffer: as it would be written if it has unsaved changes, else as the file
--- has it. They differ if the last line has no end, which Vim adds when it writes.
---@param buf integer
---@return string
local function text_of(buf)
  local options = vim.bo[buf]
  local ending = ENDINGS[options.fileformat]
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, true)
  local adds_end = options.modified and options.fixendofline and not options.binary
  local ends = options.endofline or adds_end
  if #lines == 1 and lines[1] == '' and is_empty(buf) then
    return ''
  end
  return table.concat(lines, ending) .. (ends and ending or '')
end

--- Those of some files that have unsaved changes.
---@param wanted string[]
---@return { path: string, text: string }[]
function M.unsaved(wanted)
  local found = {} ---@type { path: string, text: string }[]
  for _, path in ipairs(wanted) do
    local buf = paths.buffer_of(path)
    if buf and vim.bo[buf].modified then
      found[#found + 1] = { path = path, text = text_of(buf) }
    end
  end
  return found
end

--- The lines of a text in a buffer's file format, which stays as it is, and whether the last one
--- has an end.
---@param buf integer
---@param text string
---@return string[] lines
---@return boolean ends
local function lines_of(buf, text)
  local format = vim.bo[buf].fileformat
  if format == 'dos' then
    text = text:gsub('\r\n', '\n')
  elseif format == 'mac' then
    text = text:gsub('\r', '\n')
  end
  local ends = text:sub(-1) == '\n'
  return vim.split(ends and text:sub(1, -2) or text, '\n', { plain = true }), ends
end

--- The number of bytes that two lines have in common at their beginning, or at their end. Bytes of
--- one character stay together.
---@param one string
---@param other string
---@param most integer
---@param from_end boolean
---@return integer
local function common(one, other, most, from_end)
  local function byte(line, index)
    return line:byte(from_end and #line - index or index + 1)
  end
  local count = 0
  while count < most and byte(one, count) == byte(other, count) do
    count = count + 1
  end
  local function is_inside_character(line)
    local first = byte(line, from_end and count - 1 or count)
    return first ~= nil and first >= 0x80 and first < 0xC0
  end
  while count > 0 and (is_inside_character(one) or is_inside_character(other)) do
    count = count - 1
  end
  return count
end

---@class eca.NamedMark
---@field name string
---@field line integer 1-based
---@field column integer 0-based

--- The marks in a buffer that the user has named.
---@param buf integer
---@return eca.NamedMark[]
local function named_marks(buf)
  local found = {} ---@type eca.NamedMark[]
  for _, mark in ipairs(vim.list_extend(vim.fn.getmarklist(buf), vim.fn.getmarklist())) do
    local name = mark.mark:match("^'(%a)$")
    if name and mark.pos[1] == buf then
      found[#found + 1] = { name = name, line = mark.pos[2], column = mark.pos[3] - 1 }
    end
  end
  return found
end

--- Replace what differs in one line. Neovim 0.10 deletes the marks of the line: they are set again.
---@param buf integer
---@param row integer 0-based
---@param old string
---@param new string
---@param marks eca.NamedMark[]
local function change_line(buf, row, old, new, marks)
  local before = common(old, new, math.min(#old, #new), false)
  local after = common(old, new, math.min(#old, #new) - before, true)
  local text = { new:sub(before + 1, #new - after) }
  vim.api.nvim_buf_set_text(buf, row, before, row, #old - after, text)
  for _, mark in ipairs(marks) do
    if mark.line == row + 1 then
      vim.api.nvim_buf_set_mark(buf, mark.name, mark.line, math.min(mark.column, #new), {})
    end
  end
end

--- Replace the lines that differ. Changed lines keep their marks.
---@param buf integer
---@param new string[]
local function set_lines(buf, new)
  local old = vim.api.nvim_buf_get_lines(buf, 0, -1, true)
  if is_empty(buf) then
    vim.api.nvim_buf_set_lines(buf, 0, -1, true, new)
    return
  end
  local function joined(lines)
    return table.concat(lines, '\n') .. '\n'
  end
  local hunks = diff(joined(old), joined(new), { result_type = 'indices' })
  local marks = named_marks(buf)
  for index = #hunks, 1, -1 do -- from the end, so that the rows above stay right
    local old_first, old_count, new_first, new_count = unpack(hunks[index])
    local row = old_count == 0 and old_first or old_first - 1
    if old_count == new_count then
      for offset = 0, old_count - 1 do
        local line = old_first + offset
        change_line(buf, row + offset, old[line], new[new_first + offset], marks)
      end
    else
      local lines = vim.list_slice(new, new_first, new_first + new_count - 1)
      vim.api.nvim_buf_set_lines(buf, row, row + old_count, true, lines)
    end
  end
end

--- Give a buffer a new text in one undo step.
---@param buf integer
---@param text string
local function set_text(buf, text)
  local lines, ends = lines_of(buf, text)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels -- ends the undo step before
  if text == '' then
    vim.api.nvim_buf_set_lines(buf, 0, -1, true, {})
  else
    set_lines(buf, lines)
  end
  vim.bo[buf].endofline = ends
  if not ends then
    vim.bo[buf].fixendofline = false
  end
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

--- Has a buffer's encoding all characters of a text? Vim would write `?` in place of the others.
---@param buf integer
---@param text string
---@return boolean
local function is_encodable(buf, text)
  local encoding = vim.bo[buf].fileencoding
  if encoding == '' or encoding == 'utf-8' then
    return true
  end
  local encoded = vim.iconv(text, 'utf-8', encoding)
  return encoded ~= nil and vim.iconv(encoded, encoding, 'utf-8') == text
end

--- Why the agent may not write a text to a buffer, in a few words; nil: it may.
---@param buf integer
---@param text string
---@return string? why
local function refusal(buf, text)
  if vim.bo[buf].readonly then
    return 'it is read-only in Neovim'
  elseif not vim.bo[buf].modifiable then
    return 'its buffer in Neovim cannot be changed'
  elseif files.has_writer(vim.api.nvim_buf_get_name(buf)) then
    return 'a plugin has its own way to write it'
  elseif not is_encodable(buf, text) then
    return ('its encoding %s lacks characters of the new text'):format(vim.bo[buf].fileencoding)
  elseif vim.fn.getcmdwintype() ~= '' then
    return 'Neovim cannot look at it while its command-line window is open'
  end
  disk_check.now(buf)
  if vim.list_contains(disk_check.conflicts(), buf) then
    return 'it was changed on disk while it has unsaved changes in Neovim'
  end
end

---@param buf integer
---@param text string
---@return string? why it was not written; then the buffer is as it was before
local function replace(buf, text)
  local before = vim.fn.undotree(buf).seq_cur
  local options = { endofline = vim.bo[buf].endofline, fixendofline = vim.bo[buf].fixendofline }
  local worked, fault = pcall(function()
    set_text(buf, text)
    files.save(buf)
  end)
  if worked then
    local announced, why = user_writes.by_agent(buf)
    if not announced then
      notify.warn(('after writing %s: %s'):format(paths.short(vim.api.nvim_buf_get_name(buf)), why))
    end
    return
  end
  vim.api.nvim_buf_call(buf, function()
    vim.cmd.undo({ count = before, mods = { silent = true } })
  end)
  for name, value in pairs(options) do
    vim.bo[buf][name] = value
  end
  return others.words((tostring(fault):gsub('^.*Vim[^:]*:', '')))
end

local LINKED = 'a link leads elsewhere now'

--- Has a file, or a folder above it, become a link, also one that leads nowhere?
---@param path string a real one
---@return boolean
local function is_linked(path)
  return paths.normalize(path) ~= path or vim.uv.fs_readlink(path) ~= nil
end

local UNREAD = 'it has unsaved changes in Neovim that you have not read, read it first'

---@class eca.AgentWrite
---@field path string
---@field text string
---@field expected? string digest of the text that it replaces; nil: any
---@field replaces_unsaved boolean the agent has read the unsaved changes, if there are any
---@field expires number seconds since 1970; later nobody waits for the answer

---@class eca.AgentWriteResult
---@field state 'written'|'no_buffer'|'changed'|'refused'
---@field why? string a few words, if refused
---@field unsaved? string the text before, if it was not saved
---@field encoding? string of the file
---@field bomb? boolean the file begins with a byte order mark

--- Write a file through its buffer.
---@param write eca.AgentWrite
---@return eca.AgentWriteResult
function M.write(write)
  local buf = paths.buffer_of(write.path)
  if not buf then
    return { state = 'no_buffer' }
  elseif os.time() > write.expires then
    return { state = 'refused', why = 'Neovim was waiting for the user' }
  end
  local why = is_linked(write.path) and LINKED or refusal(buf, write.text)
  local is_unsaved = vim.bo[buf].modified
  local before = text_of(buf):gsub('\r\n?', '\n') -- digests do not depend on the form of line ends
  if not why and is_unsaved and not write.replaces_unsaved then
    why = UNREAD
  elseif not why and write.expected and write.expected ~= vim.fn.sha256(before) then
    return { state = 'changed' }
  end
  local unsaved = is_unsaved and text_of(buf) or nil
  why = why or replace(buf, write.text)
  if why then
    return { state = 'refused', why = why }
  end
  local options = vim.bo[buf]
  return {
    state = 'written',
    unsaved = unsaved,
    encoding = unsaved and options.fileencoding,
    bomb = unsaved and options.bomb,
  }
end

return M
