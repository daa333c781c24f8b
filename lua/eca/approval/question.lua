--- Questions of the agent in the float: options by number, or an answer in the user's own words.
--- The fields of a form come one after the other; the host says which and checks the answers.
---
--- Rules kept here: an option is text of the agent. It is shown and sent back, nothing more.
local answer_mode = require('eca.input.answer_mode')
local block = require('eca.approval.block')
local choose = require('eca.ui.choose')
local decide = require('eca.input.decide')
local mirror = require('eca.state.mirror')
local notify = require('eca.ui.notify')
local panel = require('eca.ui.panel')
local windows = require('eca.window')

local M = {}

local MOST_KEYS = 9
local PICKED = '✓ '

--- Marks the options that are picked, where several may be: they are sent together.
local picks = vim.api.nvim_create_namespace('eca.question.picks')

--- Answer with an option.
---@param item eca.Pending
---@param index integer
local function answer_with(item, index)
  if item.picks then
    decide.pick(item, { index })
  else
    decide.answer(item, item.options[index][1])
  end
end

--- Pick an option in the float, or no longer.
---@param row integer 0-based
local function toggle(row)
  local marks = vim.api.nvim_buf_get_extmarks(0, picks, { row, 0 }, { row, -1 }, {})
  if marks[1] then
    vim.api.nvim_buf_del_extmark(0, picks, marks[1][1])
  else
    local sign = { { PICKED, 'EcaToolDone' } }
    vim.api.nvim_buf_set_extmark(0, picks, row, 0, { virt_text = sign, virt_text_pos = 'inline' })
  end
end

--- The number of the option under the cursor.
---@param item eca.Pending
---@param first_row integer 1-based row of the first option
---@return integer?
local function option_here(item, first_row)
  local index = vim.api.nvim_win_get_cursor(0)[1] - first_row + 1
  return (item.options or {})[index] and index
end

--- Send the options that are picked; without one, an empty answer.
---@param item eca.Pending
---@param first_row integer
local function send_picked(item, first_row)
  local numbers = {} ---@type integer[]
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, picks, 0, -1, {})) do
    numbers[#numbers + 1] = mark[2] - first_row + 2
  end
  if numbers[1] then
    decide.pick(item, numbers)
  else
    decide.answer(item, '')
  end
end

--- Answer with the option under the cursor; else, if the question takes one, by an empty answer.
---@param item eca.Pending
---@param first_row integer
local function choose_here(item, first_row)
  local index = option_here(item, first_row)
  if item.several then
    send_picked(item, first_row)
  elseif index then
    answer_with(item, index)
  elseif item.empty then
    decide.answer(item, '')
  elseif item.secret then
    answer_mode.write(item)
  end
end

--- What `<CR>` is for: the border and the list of keys.
---@param item eca.Pending
---@return string? text, string? about
local function enter_means(item)
  local count = #(item.options or {})
  if item.several then
    return 'send', 'send what is picked'
  elseif item.empty then
    return item.empty, count > 0 and 'choose the option under the cursor, or ' .. item.empty or nil
  end
  return count > MOST_KEYS and 'this line' or nil,
    count > 0 and 'choose the option under the cursor' or nil
end

--- The keys: one for each of the first options, listed as one in the border. `<CR>` chooses any.
---@param item eca.Pending
---@param first_row integer
---@return eca.Choice[]
local function choices_of(item, first_row)
  local choices = {} ---@type eca.Choice[]
  ---@param key string
  ---@param text? string
  ---@param about? string
  ---@param run fun()
  local function add(key, text, about, run)
    choices[#choices + 1] = { key = key, text = text, about = about, run = run }
  end
  for index = 1, math.min(#(item.options or {}), MOST_KEYS) do
    add(tostring(index), nil, nil, function()
      if item.several then
        toggle(first_row + index - 2)
      else
        answer_with(item, index)
      end
    end)
  end
  local first = choices[1]
  if first and not item.yes_no then
    local is_consent = item.declines and not item.picks
    first.label = #choices > 1 and '1-' .. #choices or nil
    first.text = is_consent and item.options[1][1] or item.several and 'pick' or 'choose'
    first.about = item.several and 'pick an option, or no longer' or 'choose an option'
  end
  for index, key in ipairs(item.yes_no and { 'y', 'n' } or {}) do
    add(key, item.options[index][1], nil, function()
      answer_with(item, index)
    end)
  end
  if item.several then
    add('<Space>', nil, 'pick the option under the cursor, or no longer', function()
      if option_here(item, first_row) then
        toggle(vim.api.nvim_win_get_cursor(0)[1] - 1)
      end
    end)
  end
  local text, about = enter_means(item)
  add('<CR>', text, about, function()
    choose_here(item, first_row)
  end)
  if item.freeform ~= false then
    local own = item.secret and 'type it hidden' or 'type answer'
    add('i', own, 'answer in your own words', function()
      answer_mode.write(item)
    end)
  end
  if item.back then
    add('b', 'back', 'go back to the field before', function()
      decide.previous_field(item)
    end)
  end
  local refuses = 'refuse to answer: the agent goes on without it'
  about = item.declines and refuses or 'cancel the question'
  add('x', item.declines and 'decline' or 'cancel', about, function()
    decide.answer(item, nil)
  end)
  return choices
end

--- The rows of the float: our own ones first, so that no row of the agent can be mistaken for one.
---@param item eca.Pending
---@return string[] lines, eca.Mark[] marks
---@return integer own_rows number of our own rows
---@return integer first_row 1-based row of the first option
local function body_of(item)
  local rows = {} ---@type eca.Segment[][]
  for _, note in ipairs(item.notes or {}) do
    rows[#rows + 1] = { { note, 'EcaMuted' } }
  end
  rows[#rows + 1] = item.fault and { { '! ' .. item.fault, 'EcaWarning' } }
  local own_rows = #rows
  for _, line in ipairs(vim.split(item.detail or item.title, '\n')) do
    rows[#rows + 1] = { { line, 'EcaQuestion' } }
  end
  local first_row = #rows + 1
  for index, option in ipairs(item.options or {}) do
    local about = option[2] and option[2] ~= '' and '  ' .. option[2] or ''
    local key = { tostring(index), 'EcaKey' }
    rows[#rows + 1] = { key, { ' ', '' }, { option[1], 'EcaOption' }, { about, 'EcaMuted' } }
  end
  local text = panel.text(rows)
  return text.lines, text.marks, own_rows, first_row
end

--- What the float shows for a question.
---@param item eca.Pending
---@return eca.PromptContent without key, chat, title and gone
function M.content(item)
  local lines, marks, own_rows, first_row = body_of(item)
  return {
    lines = lines,
    marks = marks,
    quoted = { own_rows, first_row - 2 },
    choices = choices_of(item, first_row),
    seen = function()
      return block.seen(item, nil, true)
    end,
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

--- Ask for the answer: in a list of options, or in the chat's input.
---@param item? eca.Pending default: the oldest question
function M.open(item)
  item = item or oldest()
  if not item then
    notify.info('no pending question')
    return
  end
  local options = item.options or {}
  if #options == 0 or item.several then
    return answer_mode.write(item)
  end
  local numbers = vim.fn.range(1, #options)
  numbers[#numbers + 1] = item.freeform ~= false and 0 or nil -- the user's own words
  choose.one(item.title, numbers, function(number)
    return number == 0 and 'answer in my own words' or options[number][1]
  end, function(number)
    if number == 0 then
      answer_mode.write(item)
    else
      answer_with(item, number)
    end
  end)
end

return M
