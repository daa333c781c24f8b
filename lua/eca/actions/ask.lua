--- Actions on questions about lines, which are answered in place: asking, and what is done with an
--- answer.
local answers = require('eca.preview.answer')
local choose = require('eca.ui.choose')
local notify = require('eca.ui.notify')
local places = require('eca.context.places')
local preview = require('eca.preview')
local question = require('eca.preview.question')
local region = require('eca.preview.region')
local register = require('eca.ui.register')
local sanitize = require('eca.ui.sanitize')
local scan = require('eca.text.scan')

local M = {}

local MOST_LINES = 5000

--- Ask for a line; nothing is done without one.
---@param prompt string
---@param take fun(text: string)
local function ask_for(prompt, take)
  choose.line({ prompt = prompt }, function(answer)
    local text = answer and scan.trim(answer) or ''
    if text ~= '' then
      take(text)
    end
  end)
end

--- Ask about lines of the current buffer.
---@param text? string nil: it is asked for
---@param first integer 1-based
---@param last integer
---@param is_ranged boolean the user has named the lines
local function ask(text, first, last, is_ranged)
  local buf = vim.api.nvim_get_current_buf()
  if vim.bo[buf].filetype:find('^eca%-') or vim.bo[buf].buftype == 'terminal' then
    return notify.warn('not asked: go to a buffer with code or text')
  elseif last - first >= MOST_LINES then
    return notify.warn(('not asked: name at most %d lines'):format(MOST_LINES))
  end
  local function take(prompt)
    if vim.api.nvim_buf_is_loaded(buf) then
      local server = preview.current_server()
      local lines = { buf = buf, first = first, last = last, is_ranged = is_ranged }
      lines.prompt, lines.server = prompt, server
      question.ask(lines)
    end
  end
  if text then
    return take(text)
  end
  local name = first == last and ('line %d'):format(first) or ('lines %d-%d'):format(first, last)
  ask_for(('Ask about %s: '):format(name), take)
end

--- `:[range]Eca ask [question]`
---@param text? string
---@param call eca.Call
function M.run(text, _, call)
  local row = vim.api.nvim_win_get_cursor(0)[1]
  local is_ranged = call.range > 0
  ask(text, is_ranged and call.line1 or row, is_ranged and call.line2 or row, is_ranged)
end

--- Ask about the line of the cursor, or the selected ones.
function M.here()
  local first, last = places.selected_lines()
  local row = vim.api.nvim_win_get_cursor(0)[1]
  ask(nil, first or row, last or row, first ~= nil)
end

--- Call a function with the answer that is meant.
---@param act fun(here: eca.Preview)
local function with_answer(act)
  local here = preview.here(true)
  if here then
    act(here)
  else
    notify.info('no answer in this buffer: :Eca ask asks')
  end
end

--- Go into the float of an answer, or back.
function M.enter()
  with_answer(function(here)
    if not answers.enter(here) then
      notify.info('no room for the answer: make the window larger')
    end
  end)
end

--- Ask another question below an answer.
function M.more()
  with_answer(function(here)
    if here.state == 'streaming' then
      return notify.info('wait for the answer, or stop it')
    end
    ask_for('Ask on: ', function(text)
      question.ask_on(here, text)
    end)
  end)
end

--- Go on in a chat.
function M.to_chat()
  with_answer(function(here)
    if here.state == 'streaming' then
      notify.info('wait for the answer, or stop it')
    elseif here.is_lost then
      notify.warn('the host that has had this conversation has ended')
    else
      question.to_chat(here)
    end
  end)
end

--- Close an answer.
function M.close()
  with_answer(function(here)
    preview.drop({ id = here.id })
  end)
end

--- Call a function with a code block of an answer: the only one, else that which the user chooses.
---@param act fun(here: eca.Preview, row: integer)
local function with_code(act)
  with_answer(function(here)
    local answer = assert(here.answer)
    local rows = answers.code_rows(answer)
    if #rows == 0 then
      notify.info('no complete code block in this answer')
    elseif #rows == 1 then
      act(here, rows[1])
    else
      choose.one('Which code?', rows, function(row)
        local line = vim.api.nvim_buf_get_lines(answer.buf, row + 1, row + 2, false)[1]
        return sanitize.line(line or '')
      end, function(row)
        act(here, row)
      end)
    end
  end)
end

--- Yank the code of an answer.
function M.copy()
  local name = vim.v.register
  with_code(function(here, row)
    local lines = require('eca.markdown.fences').lines(assert(here.answer).buf, row)
    if register.yank(lines, 'V', name) then
      notify.info(('%d lines yanked'):format(#lines))
    end
  end)
end

--- Put the code of an answer over the lines that the user has named, else below the line.
function M.put()
  with_code(function(here, row)
    local answer, first, last = assert(here.answer), region.near(here.region)
    if answer.win == vim.api.nvim_get_current_win() then
      answers.enter(here) -- back to the code
    end
    require('eca.actions.put').block(answer.buf, row, {
      buf = here.region.buf,
      first = first + 1,
      last = last,
      below = not here.is_ranged,
    })
  end)
end

return M
