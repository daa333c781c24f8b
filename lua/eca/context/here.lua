--- What `:Eca add` means where it is called: the file, its lines, an entry of a file browser, an
--- item of a list, or the text of a buffer without a file.
---
--- Rules kept here:
--- - In the chat's own windows it is the file of the last code window.
--- - File browsers are asked for the entry; nothing is opened. What they draw is never added.
local paths = require('eca.files.paths')
local places = require('eca.context.places')

local M = {}

--- Most entries of a list that are added at once.
local MOST_ENTRIES = 50
--- `w:netrw_liststyle` of a tree.
local NETRW_TREE = 3

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

--- Call a function of netrw, which works on the line of the cursor.
---@param name string
---@param ... any
---@return string?
local function ask_netrw(name, ...)
  local worked, answer = pcall(vim.fn['netrw#Call'], name, ...)
  return worked and type(answer) == 'string' and answer ~= '' and answer or nil
end

--- The path of the entry under the cursor in a list of netrw, also in its tree.
---@return string?
local function netrw_entry()
  local name, folder = ask_netrw('NetrwGetWord'), vim.b.netrw_curdir
  if name and vim.w.netrw_liststyle == NETRW_TREE then
    folder = ask_netrw('NetrwTreeDir', 1) or folder -- of a folder it is that folder
    name = vim.endswith(name, '/') and '' or name
  end
  return name and vim.fs.joinpath(folder, name) or nil
end

---@alias eca.EntryContext fun(row: integer): eca.Context?

--- An entry of a plugin; one that fails has none.
---@param path_of fun(row: integer): string?
---@param at_cursor? boolean it only knows the entry under the cursor
---@return eca.EntryContext
local function entry(path_of, at_cursor)
  return function(row)
    local view = vim.fn.winsaveview()
    if at_cursor then
      vim.api.nvim_win_set_cursor(0, { row, 0 })
    end
    local worked, path = pcall(path_of, row)
    vim.fn.winrestview(view)
    local stat = worked and type(path) == 'string' and vim.uv.fs_stat(path)
    local kind = stat and stat.type == 'directory' and 'directory' or 'file'
    return stat and { type = kind, path = paths.normalize(path) } or nil
  end
end

--- Lists whose rows are contexts, by file type.
---@type table<string, eca.EntryContext>
local LISTS = {
  oil = entry(function(row)
    local oil = package.loaded.oil
    local folder = oil and oil.get_current_dir(0) -- nil: on another machine
    local found = folder and oil.get_entry_on_line(0, row)
    return found and vim.fs.joinpath(folder, found.name) or folder
  end),
  netrw = entry(netrw_entry, true),
  NvimTree = entry(function()
    local node = package.loaded['nvim-tree.api'].tree.get_node_under_cursor()
    return node and node.absolute_path
  end, true),
  ['neo-tree'] = entry(function(row)
    local state = package.loaded['neo-tree.sources.manager'].get_state_for_window()
    local node = state and state.tree and state.tree:get_node(row)
    return node and node.path
  end),
  minifiles = entry(function(row)
    local found = package.loaded['mini.files'].get_fs_entry(0, row)
    return found and found.path
  end),
  snacks_picker_list = entry(
    function() -- the picker, or explorer, whose list is the current window
      local picker = package.loaded['snacks.picker']
      for _, each in ipairs(picker.get()) do
        if each.list.win.win == vim.api.nvim_get_current_win() then
          local item = each:current()
          return item and picker.util.path(item)
        end
      end
    end
  ),
  qf = function(row)
    local reports = require('eca.context.reports') -- late: rarely needed
    local is_local = vim.fn.win_gettype() == 'loclist'
    local item = reports.item(row, is_local and vim.api.nvim_get_current_win() or nil)
    return item and reports.context(item) or nil
  end,
}

--- Other file browsers, by file type: what they draw is not what is meant.
local UNKNOWN = { 'CHADTree', 'coc-explorer', 'defx', 'dirvish', 'fern', 'nerdtree', 'yazi' }

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
  elseif vim.list_contains(UNKNOWN, filetype) then
    return {}, ('not added: which file is meant in %s is not known, name it'):format(filetype)
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
