--- What the float offers for a call that waits: its choices, and what they are about.
local answers = require('eca.input.decide')
local block = require('eca.approval.block')
local body = require('eca.approval.body')
local diff = require('eca.diff')

local M = {}

---@param item eca.Pending
---@param all? eca.Choice accepts all that waits in the chat
---@return eca.Choice[]
local function accepting(item, all)
  local choices = { ---@type eca.Choice[]
    {
      key = 'a',
      text = 'accept',
      main = true,
      run = function()
        answers.accept(item)
      end,
    },
  }
  if item.remember then
    choices[2] = {
      key = 'A',
      text = 'remember',
      about = 'accept, and remember for this session',
      run = function()
        answers.accept(item, true)
      end,
    }
  end
  choices[#choices + 1] = all
  return choices
end

---@param item eca.Pending
---@return eca.Choice[]
local function rejecting(item)
  return {
    {
      key = 'r',
      text = 'reject',
      main = true,
      run = function()
        answers.reject(item)
      end,
    },
    {
      key = 'R',
      text = 'say why',
      about = 'reject and say what to do instead',
      run = function()
        answers.reject_with_reason(item)
      end,
    },
  }
end

---@param item eca.Pending
---@return eca.Choice
local function comparing(item)
  return {
    key = 'd',
    text = 'diff',
    about = 'whole diff in a tab page',
    run = function()
      diff.ask('diff', { chat = item.chat, block = item.block })
    end,
  }
end

--- What the float shows for a call.
---@param item eca.Pending
---@param all? eca.Choice accepts all that waits in the chat
---@return eca.PromptContent without key, chat, title and gone
function M.content(item, all)
  local lines, marks, own = body.of(item)
  local choices = vim.list_extend(accepting(item, all), rejecting(item))
  choices[#choices + 1] = item.paths and comparing(item) or nil
  return {
    lines = lines,
    marks = marks,
    quoted = { own, #lines - 1 },
    choices = choices,
    seen = function()
      return block.seen(item)
    end,
    rest = item.paths and 'd shows all' or 'scroll to see',
  }
end

return M
