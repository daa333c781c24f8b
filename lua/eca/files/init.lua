--- Checks and opens files that a server, a model or a repository names. No other file opens them.
---
--- Rules kept here:
--- - A path is data. It must be absolute, not a URL, and name a regular file. Otherwise it is
---   refused with one line: reading a pipe or a file in `/proc` could block Neovim.
--- - The name of a buffer never looks like a scheme (`term:`), because autocommands would act on
---   it.
--- - A file that a plugin reads in its own way (an archive, or compressed) is loaded only by the
---   user.
--- - Where Neovim can make no swap file, files are loaded without one: else it would stop at "Press
---   ENTER" (E303), and not only in a key of the user. A folder counts only if a file can be made
---   in it, because permissions do not tell all. A buffer that is loaded already keeps its option.
--- - Only this file passes names of files to Neovim. A test checks all others.
local others = require('eca.ui.others')
local paths = require('eca.files.paths')
local sanitize = require('eca.ui.sanitize')
local system = require('eca.files.system')

local M = {}

---@param folder string of 'directory'
---@return boolean
local function is_usable(folder)
  if vim.startswith(folder, '.') then -- beside the file
    return true
  end
  pcall(vim.fn.mkdir, folder, 'p') -- as Neovim would
  local file, path = vim.uv.fs_mkstemp(vim.fs.joinpath(folder, 'eca-XXXXXX'))
  if not file then
    return false
  end
  vim.uv.fs_close(file)
  vim.uv.fs_unlink(path)
  return true
end

--- Turn the swap file of a buffer off that is about to be loaded, if none can be made.
---@param buf integer
local function prepare_swap(buf)
  if vim.api.nvim_buf_is_loaded(buf) or not vim.bo[buf].swapfile then
    return
  end
  vim.bo[buf].swapfile = vim.iter(vim.opt.directory:get()):any(is_usable)
end

local MIB = 1024 * 1024

--- MiB of a file that is loaded or read without the user having opened it.
local LARGEST = 8

--- The events by which plugins read files in their own way, and Neovim's own plugin unpacks them.
local READERS = {
  { event = { 'BufReadCmd', 'FileReadCmd' } },
  { event = 'BufReadPost', group = 'gzip' },
}

--- The events by which plugins write files in their own way.
local WRITERS = { { event = 'BufWriteCmd' }, { event = 'BufWritePost', group = 'gzip' } }

local KINDS = { directory = 'a folder', fifo = 'a pipe', socket = 'a socket' }

--- A path without `//` and `.`. A path with `..` is resolved by the file system, because the folder
--- before it may be a link.
---@param path string
---@return string? clean
---@return string? why it is refused
local function clean(path)
  if not vim.startswith(path, '/') then
    return nil, 'an absolute path is needed'
  elseif path:find('%z') then
    return nil, 'a path cannot have a NUL byte'
  elseif path:find(':/', 1, true) then
    return nil, 'a plain path is needed, not a URL'
  end
  local parts = vim.tbl_filter(function(part)
    return part ~= '' and part ~= '.'
  end, vim.split(path, '/', { plain = true }))
  if vim.list_contains(parts, '..') then
    return vim.uv.fs_realpath(path), 'there is no such file'
  end
  return '/' .. table.concat(parts, '/')
end

---@param path string
---@param is_new boolean
---@param most number bytes
---@return string? why
local function why_not(path, is_new, most)
  local stat, _, code = vim.uv.fs_stat(path)
  if not stat then
    local is_missing = code == 'ENOENT' or code == 'ENOTDIR' -- a file is where its folder was
    local fault = is_missing and 'there is no such file' or 'it cannot be read, ' .. code
    return not (is_new and is_missing) and fault or nil
  elseif stat.type ~= 'file' then
    return ('a regular file is needed, not %s'):format(KINDS[stat.type] or 'a device')
  elseif paths.inside(vim.uv.fs_realpath(path) or path, system.GENERATED) then
    return 'the system generates its content'
  elseif stat.size > most then
    return ('larger than %d MiB, use :edit first'):format(LARGEST)
  end
end

---@param path string
---@param why string
---@return string line
local function refused(path, why)
  local shown = path:find('%z') and sanitize.line(path) or paths.short(path)
  return ('not opened, %s: %s'):format(why, shown) -- the middle of a long line is cut
end

---@param path string
---@param is_new boolean it may be missing
---@param most number bytes
---@return string? clean
---@return string? fault one line
local function check(path, is_new, most)
  local name, why = clean(path)
  if name then
    why = why_not(name, is_new, most)
  end
  if why then
    return nil, refused(path, why)
  end
  return name
end

--- The same, but raises an error for a file that is refused.
---@param path string
---@param is_new boolean
---@param most number
---@return string clean
local function require_file(path, is_new, most)
  local name, fault = check(path, is_new, most)
  return name or error(fault, 0)
end

--- Does a plugin handle one of these events for files with this name?
---@param name string
---@param events vim.api.keyset.get_autocmds[]
---@return boolean
local function is_handled(name, events)
  local tail = vim.fs.basename(name)
  local function handles(handler)
    local pattern = not handler.buflocal and vim.regex(vim.fn.glob2regpat(handler.pattern))
    return pattern and (pattern:match_str(name) or pattern:match_str(tail)) ~= nil
  end
  return vim.iter(events):any(function(wanted)
    local there, handlers = pcall(vim.api.nvim_get_autocmds, wanted) -- a group may be missing
    return there and vim.iter(handlers):any(handles)
  end)
end

--- Does a plugin write files with this name in its own way, such as encrypting them?
---@param name string
---@return boolean
function M.has_writer(name)
  return is_handled(name, WRITERS)
end

--- Check a file that is loaded without the user having opened it.
---@param path string
---@return string? clean
---@return string? fault one line
local function check_loadable(path)
  local name, fault = check(path, false, LARGEST * MIB)
  if name and is_handled(name, READERS) then
    return nil, refused(path, 'a plugin has its own way to read it, use :edit first')
  end
  return name, fault
end

--- Why a file may not be loaded, in one line; nil: it may. A file that the user has opened may.
---@param path string
---@return string? fault
function M.refusal(path)
  local name = clean(path)
  if not name or not paths.buffer_of(name) then
    return select(2, check_loadable(path))
  end
end

--- Why a path cannot be read, in one line; nil: it is a regular file, or does not exist.
---@param path string
---@return string? fault
function M.fault(path)
  return select(2, check(path, true, math.huge))
end

--- Add a buffer for a file without loading it. It gets the name that `:edit` would give: relative
--- inside the working folder, unless that looks like a scheme. The file may be missing.
---@param path string
---@return integer? buf
---@return string? fault one line
function M.add(path)
  local name, fault = check(path, true, math.huge)
  if not name then
    return nil, fault
  end
  local short = vim.fn.fnamemodify(name, ':.')
  return others.call('BufNew', vim.fn.bufadd, short:find('^%a[%w+.-]*:') and name or short)
end

--- Load a buffer. Without 'shortmess', a swap file of another Neovim would block with a question.
---@param buf integer
---@return boolean loaded
---@return any why not
local function bufload(buf)
  local shortmess = vim.o.shortmess
  vim.opt.shortmess:append('A')
  local loaded, why = pcall(vim.fn.bufload, buf)
  vim.o.shortmess = shortmess
  return loaded, why
end

--- Load a buffer whose loading has failed, without autocommands: what was read may not be all.
---@param buf integer
---@return boolean loaded
---@return any why not
local function load_again(buf)
  local ignored = vim.o.eventignore
  vim.o.eventignore = 'all'
  local loaded, why = pcall(vim.api.nvim_buf_delete, buf, { unload = true, force = true })
  if loaded then
    loaded, why = bufload(buf)
  end
  vim.o.eventignore = ignored
  return loaded, why
end

--- Load a file into a buffer without a window. Returns its buffer if it is loaded already. A file
--- for which no swap file can be made is loaded without one, and one for which an autocommand of
--- the user fails is loaded without those. Raises an error for a file that is refused, and Neovim's
--- own errors.
---@param path string
---@return integer buf
---@return boolean added the buffer is new
function M.load(path)
  local known = paths.buffer_of(clean(path) or '')
  if known then
    return known, false
  end
  local name, fault = check_loadable(path)
  if not name then
    error(fault, 0)
  end
  local before = vim.api.nvim_list_bufs()
  local buf = assert(M.add(name))
  prepare_swap(buf)
  local loaded, why = bufload(buf)
  if not loaded then -- an autocommand of the user has failed
    loaded, why = load_again(buf)
  end
  if not loaded then
    error(why, 0)
  end
  return buf, not vim.list_contains(before, buf)
end

--- Show a file in the current window.
---@param path string
---@param may_be_new? boolean it may be missing
---@return string? fault one line, if it is refused, or the window cannot leave its buffer
function M.show(path, may_be_new)
  local name, fault = check(path, may_be_new or false, math.huge)
  if not name then
    return fault
  end
  local buf = assert(M.add(name))
  vim.bo[buf].buflisted = true
  prepare_swap(buf)
  local shown, why = pcall(vim.cmd.buffer, buf)
  return not shown and others.words(why) or nil
end

--- Read a file that is not too large.
---@param path string
---@return string? text
---@return string? fault one line
function M.read(path)
  local name, fault = check(path, false, LARGEST * MIB)
  local file, why = io.open(name or '', 'rb')
  if not name or not file then
    return nil, fault or why
  end
  local text = file:read('*a')
  file:close()
  return text
end

--- Write a file; an existing one is overwritten. Raises an error for one that is refused, and
--- Neovim's own errors.
---@param path string
---@param lines string[]
function M.write(path, lines)
  vim.fn.writefile(lines, require_file(path, true, math.huge))
end

--- Make Neovim check whether a buffer's file has changed, without a question or a message.
---@param buf integer of a regular file, or of a missing one
function M.check_time(buf)
  vim.cmd({ cmd = 'checktime', range = { buf }, mods = { silent = true } })
end

--- Reload a buffer over unsaved changes. Raises an error for a file that is refused, and Neovim's
--- own errors.
---@param buf integer
function M.reload(buf)
  require_file(vim.api.nvim_buf_get_name(buf), false, math.huge)
  vim.api.nvim_buf_call(buf, function()
    vim.cmd('silent edit!')
  end)
end

--- Save a buffer without autocommands before or after, and make the folders above its file. Raises
--- an error for a file that is refused, and Neovim's own errors.
---@param buf integer
function M.save(buf)
  local path = require_file(vim.api.nvim_buf_get_name(buf), true, math.huge)
  vim.fn.mkdir(vim.fs.dirname(path), 'p')
  vim.api.nvim_buf_call(buf, function()
    vim.cmd('silent noautocmd keepalt lockmarks write')
  end)
end

--- Name a buffer without a file: `eca://` and a text.
---@param buf integer
---@param text string
function M.name(buf, text)
  vim.b[buf].eca_lives = true -- one that a session file makes has only the name
  others.call('BufFilePost', vim.api.nvim_buf_set_name, buf, 'eca://' .. sanitize.line(text))
end

--- Neovim leaves the cursors of a file's other windows below its last line if it is read again and
--- has become shorter, by whomever. Who closes or resizes a window beside them then gets E315.
---@param buf integer
local function raise_cursors(buf)
  local last = vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_line_count(buf)
  for _, win in ipairs(last and vim.fn.win_findbuf(buf) or {}) do
    if vim.api.nvim_win_get_cursor(win)[1] > last then
      vim.api.nvim_win_set_cursor(win, { last, 0 })
    end
  end
end

vim.api.nvim_create_autocmd({ 'BufReadPost', 'FileChangedShellPost' }, {
  group = vim.api.nvim_create_augroup('eca.files', {}),
  callback = function(event)
    vim.schedule(function() -- the cursors are put there after the event
      raise_cursors(event.buf)
    end)
  end,
})

return M
