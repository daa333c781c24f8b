--- The rows of the float that asks whether turns are undone: a file each, then turns that are only
--- known by their prompts.
local display_width = require('eca.ui.display_width')
local paths = require('eca.files.paths')
local sanitize = require('eca.ui.sanitize')

local M = {}

--- Cells of the counts of lines, and of a name at most.
local COUNTS, MOST_NAME = 8, 40

local UNKEPT = 'no checkpoint, its files stay'
local BY_SERVER = 'put back by the server, over what was saved since'

local WHAT = { restore = 'put back', create = 'made again', delete = 'deleted' }

--- Will a file be put back?
---@param file eca.UndoFile
---@return boolean
function M.is_done(file)
  return not file.fault and (not file.conflict or file.take == true)
end

---@param file eca.UndoFile
---@return string text, string group
local function fate(file)
  if file.fault then
    return 'cannot be put back: ' .. file.fault, 'EcaError'
  elseif file.conflict and not file.take then
    return file.conflict .. ', kept as it is', 'EcaToolWaiting'
  end
  local what = WHAT[file.what]
  what = file.command and ('%s, %s by a command'):format(what, file.command) or what
  return file.conflict and ('%s, %s'):format(file.conflict, what) or what, 'EcaMuted'
end

---@param text eca.PanelText
---@param segments [string, string?][] text and group
local function add(text, segments)
  local line, row = '', #text.lines
  for _, segment in ipairs(segments) do
    if segment[2] then
      text.marks[#text.marks + 1] = { row, #line, #line + #segment[1], segment[2] }
    end
    line = line .. segment[1]
  end
  text.lines[row + 1] = line
end

---@param file eca.UndoFile
---@param width integer of the column of names
---@return [string, string?][]
local function row_of(file, width)
  local name = display_width.pad_path(paths.short(file.path), width)
  local said, group = fate(file)
  local added, removed = ('+%d'):format(file.added), ('-%d'):format(file.removed)
  local pad = (' '):rep(math.max(0, COUNTS - #added - #removed))
  local row = { { M.is_done(file) and '  ' or '! ', 'EcaToolWaiting' }, { name, 'EcaToolTarget' } }
  if not file.fault then
    vim.list_extend(row, { { '  ' }, { added, 'EcaDiffAdd' }, { ' ' } })
    vim.list_extend(row, { { removed, 'EcaDiffDelete' }, { pad } })
  end
  return vim.list_extend(row, { { '  ' }, { said, group } })
end

---@param undo eca.Undo
---@param prompt string
---@param width integer of the column of names
---@return [string, string?][]
local function unkept_row(undo, prompt, width)
  local name = sanitize.line('▌ ' .. prompt)
  local said, group = UNKEPT, 'EcaToolWaiting'
  if undo.by_server then
    said, group = BY_SERVER, 'EcaError'
  end
  return {
    { undo.by_server and '  ' or '! ', 'EcaToolWaiting' },
    { display_width.pad(name, width), 'EcaToolTarget' },
    { '  ' .. said, group },
  }
end

--- What would become of each file, and of turns whose files nobody here has kept.
---@param undo eca.Undo
---@return eca.PanelText
function M.text(undo)
  local text = { lines = {}, marks = {} } ---@type eca.PanelText
  local names, unkept = {}, undo.plan.unkept or {} ---@type string[], string[]
  for _, file in ipairs(undo.plan.files) do
    names[#names + 1] = paths.short(file.path)
  end
  for _, prompt in ipairs(unkept) do
    names[#names + 1] = '▌ ' .. prompt
  end
  local width = 0
  for _, name in ipairs(names) do
    width = math.min(MOST_NAME, math.max(width, vim.fn.strdisplaywidth(name)))
  end
  for _, file in ipairs(undo.plan.files) do
    add(text, row_of(file, width))
  end
  for _, prompt in ipairs(unkept) do
    add(text, unkept_row(undo, prompt, width))
  end
  return text
end

return M
