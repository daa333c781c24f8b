--- Shows what fills the context window of a chat, and its cost. The host words it; its colours are
--- added here.
---
--- Rules kept here: a colour of the agent is used only if the terminal can show it.
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local panel = require('eca.ui.panel')

local M = {}

---@param segment eca.UsageSegment
---@return eca.Segment
local function coloured(segment)
  local text, group, color = unpack(segment)
  local shown = vim.o.termguicolors or vim.fn.has('gui_running') == 1
  if color and shown then
    group = 'eca_color_' .. color:sub(2)
    vim.api.nvim_set_hl(0, group, { fg = color })
  end
  return { text, group }
end

--- Show the usage of a chat in a float.
---@param chat? string
function M.show(chat)
  local rows = chat and mirror.usage(chat) or {}
  if #rows == 0 then
    notify.info('usage of this chat is not known yet')
    return
  end
  local text = panel.text(vim.tbl_map(function(row)
    return vim.tbl_map(coloured, row)
  end, rows))
  panel.show({ title = 'usage', lines = text.lines, marks = text.marks })
end

return M
