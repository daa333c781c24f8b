--- What the float shows for a tool call that needs approval: its text and its keys.
local block = require('eca.approval.block')
local body = require('eca.approval.body')
local decide = require('eca.input.decide')
local diff = require('eca.diff')

local M = {}

local NUMBERED = 9

--- A key for each choice whose name must be read, by its number.
---@param request eca.Request
---@param now eca.Pending
---@return eca.Choice[]
local function numbered(request, now)
  local keys = {} ---@type eca.Choice[]
  for number, choice in ipairs(now.listed and now.choices or {}) do
    if number <= NUMBERED then
      keys[number] = {
        key = tostring(number),
        text = decide.WORDS[choice.kind],
        about = choice.name,
        main = true,
        run = function()
          decide.choose(request, choice)
        end,
      }
    end
  end
  return keys
end

--- A key that stands for the only choice of its kind. If the choices have numbers the footer leaves
--- it out, and it says so where several are of its kind.
---@param request eca.Request
---@param now eca.Pending
---@param kind 'allow_once'|'allow_always'
---@param key eca.Choice without `run`
---@return eca.Choice?
local function of_kind(request, now, kind, key)
  if not now.listed and not decide.only(request, kind) then
    return nil
  end
  key.text = not now.listed and key.text or nil
  key.run = function()
    decide.accept(request, kind == 'allow_always')
  end
  return key
end

--- The keys that allow a tool call, or choose any answer by its number; here and in the diff tab.
---@param request eca.Request
---@param now eca.Pending the same as it is pending now
---@return eca.Choice[]
function M.allowing(request, now)
  local keys = numbered(request, now)
  local once = { key = 'a', text = 'allow', about = 'allow', main = true }
  keys[#keys + 1] = of_kind(request, now, 'allow_once', once --[[@as eca.Choice]])
  local always = { key = 'A', text = 'always', about = 'always allow it in this session' }
  keys[#keys + 1] = of_kind(request, now, 'allow_always', always --[[@as eca.Choice]])
  return keys
end

--- The keys that reject a tool call; here and in the diff tab.
---@param request eca.Request
---@param now eca.Pending the same as it is pending now
---@return eca.Choice[]
function M.rejecting(request, now)
  return {
    {
      key = 'r',
      text = not now.listed and 'reject' or nil,
      about = 'reject',
      main = true,
      run = function()
        decide.reject(request)
      end,
    },
    {
      key = 'R',
      text = '+ reason',
      about = 'reject and say what to do instead',
      run = function()
        decide.reject_with_reason(request)
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
---@return eca.PromptContent without key, chat, title, gone and read
function M.content(item, all)
  local lines, marks, own_rows, last_rows = body.of(item)
  local choices = M.allowing(item, item)
  choices[#choices + 1] = all
  vim.list_extend(choices, M.rejecting(item, item))
  choices[#choices + 1] = item.paths and comparing(item) or nil
  return {
    lines = lines,
    marks = marks,
    quoted = { own_rows, #lines - last_rows - 1 },
    choices = choices,
    seen = function(float)
      return (last_rows > 0 and block.seen_beside or block.seen)(item, float)
    end,
    cut = item.cut,
    rest = item.paths and 'd shows all' or 'scroll to read',
  }
end

return M
