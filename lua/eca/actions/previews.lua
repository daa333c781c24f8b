--- Actions on previews: the one at the cursor, or the nearest in the buffer. Those on answers alone
--- are in `ask`.
local choose = require('eca.ui.choose')
local notify = require('eca.ui.notify')
local preview = require('eca.preview')
local question = require('eca.preview.question')
local scan = require('eca.text.scan')

local M = {}

--- Accept the hunk at the cursor, or drop it.
---@param act 'accept'|'drop'
function M.hunk(act)
  preview.act_here(act)
end

--- Accept all hunks, or drop them; that also stops what still comes.
---@param act 'accept'|'drop'
function M.all(act)
  preview[act]()
end

--- Call a function with the preview that is meant, if it is a rewrite or an answer.
---@param act fun(here: eca.Preview)
local function with_passage(act)
  local here = preview.here()
  if here and here.passage then
    act(here)
  else
    notify.info('no rewrite and no answer in this buffer')
  end
end

---@param here eca.Preview
---@param prompt string
local function again(here, prompt)
  if here.answer then
    question.ask_on(here, prompt)
  else
    preview.retry(here, prompt)
  end
end

--- Ask for the same again.
function M.retry()
  with_passage(function(here)
    again(here, here.passage.prompt)
  end)
end

--- Ask for something else, beginning with what was asked.
function M.instruct()
  with_passage(function(here)
    local word = here.answer and 'Ask: ' or 'Rewrite: '
    choose.line({ prompt = word, default = here.passage.prompt }, function(answer)
      local text = answer and scan.trim(answer) or ''
      if text ~= '' then
        again(here, text)
      end
    end)
  end)
end

--- Show the preview as a diff in a tab page.
function M.diff()
  local here = preview.here(false)
  if here and here.state == 'ready' then
    preview.show_diff(here)
  else
    notify.info(here and 'no diff yet: the answer is not complete' or 'no preview in this buffer')
  end
end

--- Stop a preview whose answer still comes.
function M.stop()
  local here = preview.here()
  if here and here.state == 'streaming' and here.answer then
    question.stop(here)
  elseif here and here.state == 'streaming' then
    preview.drop({ id = here.id })
  else
    notify.info('nothing to stop here')
  end
end

return M
