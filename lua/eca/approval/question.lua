--- Questions of the agent in the float: options by number, or an answer in the user's own words.
---
--- Rules kept here: an option is text of the agent. It is shown and sent back, nothing more.
local answer_mode = require('eca.input.answer_mode')
local choose = require('eca.ui.choose')
local decide = require('eca.input.decide')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local windows = require('eca.window')

local M = {}

local MOST_KEYS = 9

--- Answer with the option under the cursor.
---@param item eca.Pending
---@param first_row integer 1-based row of the first option
local function choose_here(item, first_row)
  local option = (item.options or {})[vim.api.nvim_win_get_cursor(0)[1] - first_row + 1]
  if option then
    decide.answer(item, option[1])
  end
end

--- A key for each of the first options, listed as one in the border. `<CR>` chooses any option.
---@param item eca.Pending
---@param first_row integer
---@return eca.Choice[]
local function option_choices(item, first_row)
  local choices = {} ---@type eca.Choice[]
  local options = item.options or {}
  for index = 1, math.min(#options, MOST_KEYS) do
    choices[index] = {
      key = tostring(index),
      run = function()
        decide.answer(item, options[index][1])
      end,
    }
  end
  if choices[1] then
    choices[1].label, choices[1].text = #choices > 1 and '1-' .. #choices or '1', 'choose'
    choices[1].about = 'choose an option'
  end
  choices[#choices + 1] = {
    key = '<CR>',
    text = #options > MOST_KEYS and 'this line' or nil,
    about = #options > 0 and 'choose the option under the cursor' or nil,
    run = function()
      choose_here(item, first_row)
    end,
  }
  return choices
end

---@param item eca.Pending
---@param first_row integer
---@return eca.Choice[]
local function choices_of(item, first_row)
  local choices = option_choices(item, first_row)
  if item.freeform ~= false then
    choices[#choices + 1] = {
      key = 'i',
      text = 'type answer',
      about = 'answer in your own words',
      run = function()
        answer_mode.write(item)
      end,
    }
  end
  choices[#choices + 1] = {
    key = 'x',
    text = 'cancel',
    about = 'cancel the question',
    run = function()
      decide.answer(item, nil)
    end,
  }
  return choices
end

---@param item eca.Pending
---@return string[] lines, eca.Mark[] marks, integer first_row 1-based row of the first option
local function body_of(item)
  local lines = vim.split(item.detail or item.title, '\n')
  local marks = {} ---@type eca.Mark[]
  for row, line in ipairs(lines) do
    marks[row] = { row - 1, 0, #line, 'EcaQuestion' }
  end
  local first_row = #lines + 1
  for index, option in ipairs(item.options or {}) do
    local about = option[2] and option[2] ~= '' and '  ' .. option[2] or ''
    local key = tostring(index)
    local row, label_end = #lines, #key + 1 + #option[1]
    lines[row + 1] = key .. ' ' .. option[1] .. about
    marks[#marks + 1] = { row, 0, #key, 'EcaKey' }
    marks[#marks + 1] = { row, #key + 1, label_end, 'EcaOption' }
    marks[#marks + 1] = { row, label_end, label_end + #about, 'EcaMuted' }
  end
  return lines, marks, first_row
end

--- What the float shows for a question.
---@param item eca.Pending
---@return eca.PromptContent without key, chat, title and gone
function M.content(item)
  local lines, marks, first_row = body_of(item)
  return {
    lines = lines,
    marks = marks,
    quoted = { 0, first_row - 2 },
    choices = choices_of(item, first_row),
    rest = 'scroll to read',
  }
end

--- The oldest question of the current chat, else of any chat.
---@return eca.Pending?
local function oldest()
  local chat = windows.current_chat()
  for _, item in ipairs(vim.list_extend(chat and mirror.pending(chat) or {}, mirror.pending())) do
    if item.kind == 'question' then
      return item
    end
  end
end

local OWN_WORDS = { 'answer in my own words' }

--- Ask for the answer: in a list of options, or in the chat's input.
---@param item? eca.Pending default: the oldest question
function M.open(item)
  item = item or oldest()
  if not item then
    notify.info('no pending question')
    return
  end
  local choices = vim.list_extend({}, item.options or {})
  if #choices == 0 then
    return answer_mode.write(item)
  end
  if item.freeform ~= false then
    choices[#choices + 1] = OWN_WORDS
  end
  local options = {
    prompt = item.title,
    format_item = function(option)
      return option[1]
    end,
  }
  choose.one(choices, options, function(option)
    if option == OWN_WORDS then
      answer_mode.write(item)
    elseif option then
      decide.answer(item, option[1])
    end
  end)
end

return M
