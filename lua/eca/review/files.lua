--- The files that a chat's tools read and changed: a float, the most used first.
local display_width = require('eca.ui.display_width')
local notify = require('eca.ui.notify')
local panel = require('eca.ui.panel')
local paths = require('eca.files.paths')
local reference = require('eca.chat.reference')
local requests = require('eca.host.requests')
local return_window = require('eca.ui.return_window')

local M = {}

local WIDEST = 60

---@class eca.FileUse
---@field path string
---@field reads integer
---@field changes integer
---@field added integer
---@field removed integer

---@param count integer
---@return string
local function times(count)
  return count > 1 and ('×%d'):format(count) or ''
end

---@param row integer
---@param use eca.FileUse
---@param width integer of the column of names
---@return string line, eca.Mark[] marks
local function describe(row, use, width)
  local name = display_width.pad_path(paths.short(use.path), width)
  local read = use.reads > 0 and 'read ' .. times(use.reads) or ''
  local line = ('%s  %-8s'):format(name, read)
  local marks = { { row, 0, #name, 'EcaToolTarget' }, { row, #name, -1, 'EcaMuted' } }
  if use.changes > 0 then
    line = ('%s  changed %-3s '):format(line, times(use.changes))
    marks[2][3] = #line
  end
  if use.added + use.removed > 0 then -- it is not told of every change
    local added, removed = ('+%d'):format(use.added), ('-%d'):format(use.removed)
    marks[3] = { row, #line, #line + #added, 'EcaDiffAdd' }
    marks[4] = { row, #line + #added + 1, #line + #added + 1 + #removed, 'EcaDiffDelete' }
    line = ('%s%s %s'):format(line, added, removed)
  end
  return line, marks
end

---@param uses eca.FileUse[]
---@param asked eca.Asked
local function show(uses, asked)
  if #uses == 0 then
    notify.info('the tools of this chat have used no file')
    return
  elseif not return_window.may_take(asked, 'the list of files') then
    return
  end
  local width, lines, marks = 0, {}, {}
  for _, use in ipairs(uses) do
    width = math.max(width, math.min(WIDEST, vim.fn.strdisplaywidth(paths.short(use.path))))
  end
  width = math.min(width, math.max(10, vim.o.columns - 40))
  for row, use in ipairs(uses) do
    local line, coloured = describe(row - 1, use, width)
    lines[row] = line
    vim.list_extend(marks, coloured)
  end
  local float ---@type eca.PanelHandle
  local function jump()
    local path = uses[vim.api.nvim_win_get_cursor(0)[1]].path
    if not vim.uv.fs_stat(path) then
      notify.info(('%s is not there any more'):format(paths.short(path)))
      return
    end
    float.close()
    reference.show({ path = path })
  end
  float = panel.show({
    title = 'files of this chat',
    lines = lines,
    marks = marks,
    actions = { ['<CR>'] = jump, ['<2-LeftMouse>'] = jump },
  })
end

--- Show the files of a chat; <CR> opens the one under the cursor.
---@param chat string
function M.open(chat)
  local asked = return_window.asked()
  requests.ask('files', { chat = chat }, function(uses)
    show(uses, asked)
  end)
end

return M
