--- Questions of the agent, in the float: options by number, or an answer in the user's own words.
---
--- Rules kept here: an option is text of the agent; it is shown and sent back, nothing more.
local M = {}

local MOST_KEYS = 9

---@param item eca.Pending
---@param text? string nil cancels
local function answer(item, text)
  local payload = { chat = item.chat, id = item.id, text = text }
  require('eca.host').send('answer', payload)
end

--- Ask for an answer in the user's own words.
---@param item eca.Pending
function M.write(item)
  vim.ui.input({ prompt = 'Answer: ' }, function(text)
    if text and text ~= '' then
      answer(item, text)
    end
  end)
end

---@param item eca.Pending
---@return table<string, fun()>
local function keys_of(item)
  local keys = {} ---@type table<string, fun()>
  for index, option in ipairs(item.options or {}) do
    if index <= MOST_KEYS then
      keys[tostring(index)] = function()
        answer(item, option[1])
      end
    end
  end
  if item.freeform ~= false then
    keys.i = function()
      M.write(item)
    end
  end
  keys.x = function()
    answer(item, nil)
  end
  keys.q = function()
    require('eca.approval').leave(item)
  end
  return keys
end

---@param item eca.Pending
---@return string[] lines, eca.Mark[] marks
local function body_of(item)
  local lines = vim.split(item.detail or item.title, '\n')
  local marks = {} ---@type eca.Mark[]
  for row = 0, #lines - 1 do
    marks[#marks + 1] = { row, 0, -1, 'EcaQuestion' }
  end
  for index, option in ipairs(item.options or {}) do
    local about = option[2] ~= '' and '  ' .. option[2] or ''
    local key = index <= MOST_KEYS and tostring(index) or '·'
    lines[#lines + 1] = (key .. ' ' .. option[1] .. about):gsub('\n', ' ')
    marks[#marks + 1] = { #lines - 1, 0, 1, 'EcaKey' }
    marks[#marks + 1] = { #lines - 1, #key + 1, #key + 1 + #option[1], 'EcaOption' }
  end
  return lines, marks
end

--- What the float shows for a question.
---@param item eca.Pending
---@param title string
---@return eca.PromptContent
function M.content(item, title)
  local lines, marks = body_of(item)
  local footer = {} ---@type eca.Segment[]
  local function key(name, text)
    footer[#footer + 1] = { ' ' .. name, 'EcaKey' }
    footer[#footer + 1] = { ' ' .. text .. ' ', 'EcaDim' }
  end
  if item.options and #item.options > 0 then
    key('1-' .. math.min(#item.options, MOST_KEYS), 'choose')
  end
  if item.freeform ~= false then
    key('i', 'write')
  end
  key('x', 'cancel')
  return {
    key = item.chat .. ' ' .. item.id,
    chat = item.chat,
    title = title,
    lines = lines,
    marks = marks,
    footer = footer,
    keys = keys_of(item),
  }
end

return M
