--- What the float shows for a tool call that needs approval: its text and its keys.
local block = require('eca.approval.block')
local body = require('eca.approval.body')
local decide = require('eca.input.decide')
local diff = require('eca.diff')

local M = {}

--- The keys that allow a tool call; here and in the diff tab.
---@param item eca.Request
---@param always boolean it can be allowed for the whole session
---@return eca.Choice[]
function M.allowing(item, always)
  local choices = { ---@type eca.Choice[]
    {
      key = 'a',
      text = 'allow',
      main = true,
      run = function()
        decide.accept(item)
      end,
    },
  }
  if always then
    choices[2] = {
      key = 'A',
      text = 'always',
      about = 'always allow it in this session',
      run = function()
        decide.accept(item, true)
      end,
    }
  end
  return choices
end

--- The keys that reject a tool call; here and in the diff tab.
---@param item eca.Request
---@return eca.Choice[]
function M.rejecting(item)
  return {
    {
      key = 'r',
      text = 'reject',
      main = true,
      run = function()
        decide.reject(item)
      end,
    },
    {
      key = 'R',
      text = '+ reason',
      about = 'reject and say what to do instead',
      run = function()
        decide.reject_with_reason(item)
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
    about = 'show the whole diff in a tab page',
    run = function()
      diff.ask('diff', { chat = item.chat, block = item.block })
    end,
  }
end

--- What the float shows for a tool call.
---@param item eca.Pending
---@param all? eca.Choice allows all pending calls of the chat
---@return eca.PromptContent without key, chat, title and gone
function M.content(item, all)
  local lines, marks, own_rows = body.of(item)
  local choices = M.allowing(item, item.remember ~= nil)
  choices[#choices + 1] = all
  vim.list_extend(choices, M.rejecting(item))
  choices[#choices + 1] = item.paths and comparing(item) or nil
  return {
    lines = lines,
    marks = marks,
    quoted = { own_rows, #lines - 1 },
    choices = choices,
    seen = function()
      return block.seen(item)
    end,
    rest = item.paths and 'd shows all' or 'scroll to read',
  }
end

return M
