--- A float with the files that a chat's agent has used, the most used first.
local display_width = require('eca.ui.display_width')
local host = require('eca.host')
local notify = require('eca.ui.notify')
local panel = require('eca.ui.panel')
local paths = require('eca.files.paths')
local reference = require('eca.chat.reference')
local return_window = require('eca.ui.return_window')

local M = {}

local WIDEST = 60
local HEAD = 2 -- rows above the files

---@class eca.FileRow
---@field path string
---@field heat eca.Segment[] a bar
---@field use eca.Segment[] when and how it was used

---@class eca.FileRows
---@field head eca.Segment[]
---@field files eca.FileRow[]
---@field more integer files that are not in the list

---@param all eca.FileRows
---@param width integer
---@return eca.Segment[][]
local function rows(all, width)
  local list = { all.head, {} }
  for _, file in ipairs(all.files) do
    local row = vim.list_extend({}, file.heat)
    row[#row + 1] =
      { ' ' .. display_width.pad_path(paths.short(file.path), width), 'EcaToolTarget' }
    list[#list + 1] = vim.list_extend(row, file.use)
  end
  if all.more > 0 then
    list[#list + 1] = { { ('… %d colder files'):format(all.more), 'EcaMuted' } }
  end
  return list
end

---@param all? eca.FileRows
---@param asked eca.Asked
local function show(all, asked)
  local uses = all and all.files or {}
  if not all or #uses == 0 then
    notify.info('the agent of this chat has not used any files')
    return
  elseif not return_window.may_focus(asked, 'the list') then
    return
  end
  local width = 0
  for _, use in ipairs(uses) do
    width = math.max(width, math.min(WIDEST, vim.api.nvim_strwidth(paths.short(use.path))))
  end
  width = math.min(width, math.max(10, vim.o.columns - 50))
  local float ---@type eca.PanelHandle
  local function jump()
    local row = vim.api.nvim_win_get_cursor(0)[1]
    local file = uses[row - HEAD]
    if not file then
      return
    end
    local path = file.path
    if not vim.uv.fs_stat(path) then
      notify.info(('%s does not exist any more'):format(paths.short(path)))
      return
    end
    float.close()
    reference.show({ path = path })
  end
  float = panel.show({
    title = 'files of this chat',
    rows = rows(all, width),
    row = HEAD + 1,
    actions = { ['<CR>'] = jump, ['<2-LeftMouse>'] = jump },
  })
end

--- Show the files of a chat; <CR> opens the one under the cursor.
---@param chat string
function M.open(chat)
  local asked = return_window.asked()
  host.ask('files', { chat = chat }, function(uses)
    if uses then
      show(uses, asked)
    end
  end)
end

return M
