--- The text of a row. What only this Neovim knows comes before what the host says: the number of a
--- chat, and the mark of the server that answers in chats to come.
local chats = require('eca.chat.buffers')
local display_width = require('eca.ui.display_width')
local servers = require('eca.state.servers')

local M = {}

local NUMBER, MARK, NO_MARK = '%2d ', '● ', '  '

local answering = servers.answering() -- as the rows show it

--- Does another server answer in chats to come, since this was asked last?
---@return boolean
function M.answers_another()
  local before = answering
  answering = servers.answering()
  return answering ~= before
end

--- The text of a row, and where its colours are.
---@param row eca.PanelRow
---@param has_columns boolean
---@return string line
---@return [integer, integer, string][] marks byte columns and group
function M.of(row, has_columns)
  local chat = row.chat and chats.get(row.chat)
  local line = chat and NUMBER:format(chat.number) or ''
  local marks = {} ---@type [integer, integer, string][]
  if (row.server or '') ~= '' then
    line = row.server == answering and MARK or NO_MARK
    marks[1] = { 0, #line, 'EcaToolDone' }
  end
  for _, cell in ipairs(row.line) do
    local text, group, cells = unpack(cell)
    if cells > 0 and has_columns then
      text = display_width.pad(text, cells) .. ' '
    elseif cells > 0 and text ~= '' then
      text = text .. ' '
    end
    if group ~= '' and text ~= '' then
      marks[#marks + 1] = { #line, #line + #text, group }
    end
    line = line .. text
  end
  return line, marks
end

return M
