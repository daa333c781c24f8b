--- Lists the files that a chat's tools read and changed in a float, the most used first.
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
---@field use eca.Segment[] how it was used

---@param uses eca.FileUse[]
---@param asked eca.Asked
local function show(uses, asked)
  if #uses == 0 then
    notify.info('the tools of this chat have not used any files')
    return
  elseif not return_window.may_focus(asked, 'the list of files') then
    return
  end
  local width = 0
  for _, use in ipairs(uses) do
    width = math.max(width, math.min(WIDEST, vim.fn.strdisplaywidth(paths.short(use.path))))
  end
  width = math.min(width, math.max(10, vim.o.columns - 40))
  local text = panel.text(vim.tbl_map(function(file)
    local name = display_width.pad_path(paths.short(file.path), width)
    return vim.list_extend({ { name, 'EcaToolTarget' } }, file.use)
  end, uses))
  local float ---@type eca.PanelHandle
  local function jump()
    local path = uses[vim.api.nvim_win_get_cursor(0)[1]].path
    if not vim.uv.fs_stat(path) then
      notify.info(('%s does not exist any more'):format(paths.short(path)))
      return
    end
    float.close()
    reference.show({ path = path })
  end
  float = panel.show({
    title = 'files of this chat',
    lines = text.lines,
    marks = text.marks,
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
