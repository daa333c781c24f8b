--- What tools report, as text: the quickfix list and the diagnostics of this Neovim, an item a
--- line, and git's diff. Items of lists also as contexts.
---
--- Rules kept here:
--- - Items are read one by one, up to what is sent; a list may have 100,000.
--- - Diagnostics are those of files in the workspace; errors come first within a file. Nothing is
---   loaded or asked for.
--- - The host reads the diff in the background.
local host = require('eca.host')
local paths = require('eca.files.paths')
local sanitize = require('eca.ui.sanitize')
local texts = require('eca.context.texts')

local M = {}

local TYPES = { E = 'error: ', W = 'warning: ', I = 'info: ', N = 'note: ' }

--- An item of the quickfix list, or of the location list of a window.
---@param index integer 1-based
---@param win? integer
---@return table? item as `getqflist` has it
function M.item(index, win)
  local what = { idx = index, items = 0 }
  local found = win and vim.fn.getloclist(win, what) or vim.fn.getqflist(what)
  return (found.items or {})[1]
end

--- The file of an item; nil if it has none.
---@param item table
---@return string?
local function file_of(item)
  return item.bufnr > 0 and paths.of_buffer(item.bufnr) or nil
end

--- An item as one line: place, type and text, as compilers write it.
---@param item table
---@return string
local function line_of(item)
  local path = file_of(item)
  local place = path and paths.as_typed(path) or item.module
  if item.lnum > 0 then
    place = ('%s:%d%s'):format(place, item.lnum, item.col > 0 and ':' .. item.col or '')
  end
  local text = (TYPES[item.type:upper()] or '') .. item.text
  return sanitize.line(place ~= '' and ('%s: %s'):format(place, text) or text)
end

--- The list as text, an item a line.
---@return eca.ReadText? read
---@return string? fault why there is nothing to send, in one line
function M.read_quickfix()
  local list = vim.fn.getqflist({ size = 0, title = 0 })
  if list.size == 0 then
    return nil, 'the quickfix list is empty'
  end
  local found = texts.of_list(list.size, function(index)
    return line_of(assert(M.item(index)))
  end)
  local title = sanitize.line(list.title)
  local label = title ~= '' and ('quickfix list: %s'):format(title) or 'quickfix list'
  return { label = label, content = found.text, cut = found.cut }
end

--- The context for an item: its line in its file, or the whole file.
---@param item table
---@return eca.Context?
function M.context(item)
  local path = file_of(item)
  local line = item.lnum > 0 and item.lnum or nil
  local last = line and math.max(item.end_lnum or 0, line)
  return path and { type = 'file', path = path, first = line, last = last } or nil
end

local NAMES = { 'error', 'warning', 'info', 'hint' }

--- All diagnostics of files in some folders, each with its file.
---@param folders string[] absolute
---@return { path: string, found: vim.Diagnostic }[]
local function collect(folders)
  local all = {} ---@type { path: string, found: vim.Diagnostic }[]
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local found = vim.diagnostic.get(buf)
    local path = #found > 0 and paths.of_buffer(buf)
    if path and paths.inside(path, folders) then
      table.sort(found, function(one, other)
        local is_same = one.severity == other.severity
        return is_same and one.lnum < other.lnum or one.severity < other.severity
      end)
      for _, diagnostic in ipairs(found) do
        all[#all + 1] = { path = path, found = diagnostic }
      end
    end
  end
  return all
end

--- Diagnostics as text, one a line.
---@param all { path: string, found: vim.Diagnostic }[]
---@return eca.ReadText
local function as_text(all)
  local found = texts.of_list(#all, function(index)
    local path, it = all[index].path, all[index].found
    local place = ('%s:%d:%d'):format(paths.as_typed(path), it.lnum + 1, it.col + 1)
    local source = it.source and (' [%s]'):format(it.source) or ''
    return sanitize.line(('%s: %s: %s%s'):format(place, NAMES[it.severity], it.message, source))
  end)
  return { label = 'diagnostics', content = found.text, cut = found.cut }
end

--- The diagnostics of the workspace.
---@return eca.ReadText? read
---@return string? fault why there is nothing to send, in one line
function M.read_diagnostics()
  local all = collect(require('eca.host').folders())
  if #all == 0 then
    return nil, 'there are no diagnostics in the workspace'
  end
  return as_text(all)
end

--- The diagnostics of some lines.
---@param lines eca.Lines
---@return vim.Diagnostic[]
function M.reported(lines)
  return vim.tbl_filter(function(it)
    return it.lnum < lines.last and (it.end_lnum or it.lnum) >= lines.first - 1
  end, vim.diagnostic.get(lines.buf))
end

--- The diagnostics of some lines, as text.
---@param lines? eca.Lines nil: there is no code window
---@return eca.ReadText? read
---@return string? fault why there is nothing to send, in one line
function M.read_reported(lines)
  local path = lines and paths.of_buffer(lines.buf)
  local all = {} ---@type { path: string, found: vim.Diagnostic }[]
  for _, diagnostic in ipairs(path and M.reported(lines) or {}) do
    all[#all + 1] = { path = path, found = diagnostic }
  end
  if #all == 0 then
    return nil, 'nothing is reported in this line: go to a line with a diagnostic'
  end
  return as_text(all)
end

--- Read the diff.
---@param done fun(read?: eca.ReadText, fault?: string) fault: why there is nothing, in one line
function M.read_diff(done)
  host.ask('read_diff', { folder = vim.fn.getcwd() }, function(answer)
    if not answer or answer.fault then
      done(nil, answer and answer.fault or 'the diff was not read: see :Eca log')
    else
      done({ label = answer.label, content = answer.content, cut = answer.cut })
    end
  end)
end

return M
