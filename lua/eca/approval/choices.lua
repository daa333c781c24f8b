--- What the float offers for a call that waits: its choices, and what they are about.
local answers = require('eca.approval.decide')

local M = {}

---@param item eca.Pending
---@param sent fun(): boolean gives an answer
---@return fun()
local function answering(item, sent)
  return function()
    if sent() then
      require('eca.approval').answered(item)
    end
  end
end

---@param item eca.Pending
---@return eca.Choice[]
local function accepting(item)
  local choices = { ---@type eca.Choice[]
    {
      key = 'a',
      text = 'accept',
      run = answering(item, function()
        return answers.accept(item)
      end),
    },
  }
  if item.remember then
    choices[2] = {
      key = 'A',
      text = 'remember',
      about = 'accept, and remember for this session',
      run = answering(item, function()
        return answers.accept(item, true)
      end),
    }
  end
  local count = #require('eca.approval').of_chat(item.chat)
  if count > 1 then
    choices[#choices + 1] = {
      key = '*',
      text = ('all %d'):format(count),
      about = 'accept all that waits in the chat',
      run = function()
        require('eca.approval').accept_all(item.chat)
      end,
    }
  end
  return choices
end

---@param item eca.Pending
---@return eca.Choice[]
local function rejecting(item)
  return {
    {
      key = 'r',
      text = 'reject',
      run = answering(item, function()
        return answers.reject(item)
      end),
    },
    {
      key = 'R',
      text = 'say why',
      about = 'reject and say what to do instead',
      run = function()
        answers.reject_with_reason(item, function()
          require('eca.approval').answered(item)
        end)
      end,
    },
  }
end

--- What leaves it waiting.
---@param item eca.Pending
---@return eca.Choice[]
local function leaving(item)
  local choices = {} ---@type eca.Choice[]
  if item.path then
    choices[1] = {
      key = 'd',
      text = 'diff',
      about = 'whole diff in a tab page',
      run = function()
        require('eca.diff').ask('diff', { chat = item.chat, block = item.block })
      end,
    }
  end
  choices[#choices + 1] = {
    key = 'q',
    text = 'hide',
    about = 'leave it waiting and hide the float',
    run = function()
      require('eca.approval').leave(item)
    end,
  }
  return choices
end

--- What the float shows for a call.
---@param item eca.Pending
---@return eca.PromptContent without key, chat, title and gone
function M.content(item)
  local lines, marks, own = require('eca.approval.body').of(item)
  local choices = vim.list_extend(accepting(item), rejecting(item))
  vim.list_extend(choices, leaving(item))
  return {
    lines = lines,
    marks = marks,
    quoted = { own, #lines - 1 },
    choices = choices,
    seen = function()
      return require('eca.approval.block').seen(item)
    end,
    rest = item.path and 'd shows all' or 'scroll to see',
  }
end

return M
