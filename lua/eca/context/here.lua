--- What `:Eca add` means where it is called: the file, its lines, an entry of a file browser, an
--- item of a list, or the text of a buffer without a file.
---
--- Rules kept here:
--- - In the chat's own windows it is the file of the last code window.
--- - File browsers (netrw, oil.nvim) are asked for the entry; nothing is opened.
local paths = require('eca.files.paths')
local places = require('eca.context.places')

local M = {}

--- Most entries of a list that are added at once.
local MOST_ENTRIES = 50
--- `w:netrw_liststyle` of a tree.
local NETRW_TREE = 3

--- A context for a file or folder.
---@param path string absolute
---@return eca.Context?
local function of_path(path)
  local stat = vim.uv.fs_stat(path)
  local kind = stat and stat.type == 'directory' and 'directory' or 'file'
  return stat and { type = kind, path = paths.normalize(path) } or nil
end

--- A context for lines of a buffer: of its file, or of its text if it has no file.
---@param buf integer
---@param first? integer
---@param last? integer
---@return eca.Context
function M.of_lines(buf, first, last)
  local path = paths.of_buffer(buf)
  if path and vim.fn.isdirectory(path) == 1 then
    return { type = 'directory', path = path }
  elseif path then
    return { type = 'file', path = path, first = first, last = last }
  end
  buf = buf == 0 and vim.api.nvim_get_current_buf() or buf
  return { type = 'buffer', buf = buf, first = first, last = last }
end

--- The path of an entry in a list of oil.nvim.
---@param row integer 1-based
---@return string?
local function oil_entry(row)
  local oil = package.loaded.oil
  local folder = oil and oil.get_current_dir(0) -- nil: on another machine
  local entry = folder and oil.get_entry_on_line(0, row)
  return entry and vim.fs.joinpath(folder, entry.name) or folder
end

--- Call a function of netrw, which works on the line of the cursor.
---@param name string
---@param ... any
---@return string?
local function ask_netrw(name, ...)
  local worked, answer = pcall(vim.fn['netrw#Call'], name, ...)
  return worked and type(answer) == 'string' and answer ~= '' and answer or nil
end

--- The path of an entry in a list of netrw, also in its tree.
---@param row integer 1-based
---@return string?
local function netrw_entry(row)
  local view = vim.fn.winsaveview()
  vim.api.nvim_win_set_cursor(0, { row, 0 })
  local name, folder = ask_netrw('NetrwGetWord'), vim.b.netrw_curdir
  if name and vim.w.netrw_liststyle == NETRW_TREE then
    folder = ask_netrw('NetrwTreeDir', 1) or folder -- of a folder it is that folder
    name = vim.endswith(name, '/') and '' or name
  end
  vim.fn.winrestview(view)
  return name and vim.fs.joinpath(folder, name) or nil
end

---@alias eca.EntryContext fun(row: integer): eca.Context?

---@param path_of fun(row: integer): string?
---@return eca.EntryContext
local function entry(path_of)
  return function(row)
    local path = path_of(row)
    return path and of_path(path) or nil
  end
end

--- Lists whose rows are contexts, by file type.
---@type table<string, eca.EntryContext>
local LISTS = {
  oil = entry(oil_entry),
  netrw = entry(netrw_entry),
  qf = function(row)
    local quickfix = require('eca.context.quickfix') -- late: rarely needed
    local is_local = vim.fn.win_gettype() == 'loclist'
    local item = quickfix.item(row, is_local and vim.api.nvim_get_current_win() or nil)
    return item and quickfix.context(item) or nil
  end,
}

--- The contexts for rows of the current list.
---@param context_of eca.EntryContext
---@param first integer
---@param last integer
---@return eca.Context[] items, string? fault
local function of_rows(context_of, first, last)
  if last - first >= MOST_ENTRIES then
    return {}, ('not added: select %d entries or fewer'):format(MOST_ENTRIES)
  end
  local items = {} ---@type eca.Context[]
  for row = first, last do
    items[#items + 1] = context_of(row)
  end
  return items, #items == 0 and 'there is no file or folder in this line' or nil
end

--- The contexts meant in the current window. In the chat's own windows that is the file of the last
--- code window, or the lines selected there if lines are wanted.
---@param first? integer of the lines wanted
---@param last? integer
---@return eca.Context[] items
---@return string? fault why there are none, in one line
function M.items(first, last)
  local filetype = vim.bo.filetype
  if LISTS[filetype] then
    local row = vim.api.nvim_win_get_cursor(0)[1]
    return of_rows(LISTS[filetype], first or row, last or row)
  elseif not filetype:find('^eca%-') or filetype == 'eca-output' then
    return { M.of_lines(0, first, last) }
  end
  local place = places.last()
  if not place then
    return {}, 'no code window to add from'
  end
  local kept = first and places.selection()
  return { M.of_lines(place.buf, kept and kept.first[1], kept and kept.last[1]) }
end

return M
