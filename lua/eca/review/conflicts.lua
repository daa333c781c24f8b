--- Asks what to do with files that changed on disk while their buffers have unsaved changes: keep,
--- take, or compare.
local choose = require('eca.ui.choose')
local disk_check = require('eca.editor.checktime')
local diff = require('eca.diff')
local files = require('eca.files')
local notify = require('eca.ui.notify')
local paths = require('eca.files.paths')

local M = {}

local KEEP, TAKE, DIFF = 'keep mine', 'take theirs', 'diff'

---@param buf integer
local function keep(buf)
  disk_check.keep(buf)
  notify.info('kept your version; :w! overwrites the file on disk')
end

--- The text of a file on disk, decoded like its buffer.
---@param text string
---@param buf integer
---@return string
local function decoded(text, buf)
  local encoding = vim.bo[buf].fileencoding
  if encoding ~= '' and encoding ~= 'utf-8' then
    text = vim.iconv(text, encoding, 'utf-8') or text
  end
  return (text:gsub('^\239\187\191', '')) -- byte order mark
end

--- Show the version on disk beside the buffer.
---@param buf integer
local function compare(buf)
  local path = assert(paths.of_buffer(buf))
  local text, fault = files.read(path)
  if not text then
    notify.warn(fault)
    return
  end
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, true)
  diff.show({
    chat = '',
    id = path,
    path = path,
    before = decoded(text, buf),
    after = table.concat(lines, '\n') .. '\n',
    kind = 'changed',
    captions = { 'on disk', 'yours' },
  })
end

local ACTS = { [KEEP] = keep, [TAKE] = disk_check.take, [DIFF] = compare }

---@param buf integer
local function ask(buf)
  local name = paths.short(vim.api.nvim_buf_get_name(buf))
  local prompt = ('%s changed on disk and in its buffer'):format(name)
  choose.one(prompt, { KEEP, TAKE, DIFF }, tostring, function(choice)
    if vim.api.nvim_buf_is_loaded(buf) then
      ACTS[choice](buf)
    end
  end)
end

--- Ask what to do with a file that changed on disk and in its buffer; first ask which, if there are
--- several.
function M.choose()
  local buffers = disk_check.conflicts()
  if #buffers < 2 then
    if buffers[1] then
      ask(buffers[1])
    else
      notify.info('no conflicts with unsaved buffers')
    end
    return
  end
  choose.one('Changed on disk and in a buffer', buffers, function(buf)
    return paths.short(vim.api.nvim_buf_get_name(buf))
  end, function(buf)
    vim.schedule(function() -- clear the first question before the second is shown
      vim.cmd.redraw()
      ask(buf)
    end)
  end)
end

return M
