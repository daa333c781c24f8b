--- The keys that answer a tool call: in the float and in the diff tab.
local decide = require('eca.input.decide')

local M = {}

local NUMBERED = 9

--- The keys, in the order of the border. Choices whose names must be read have numbers. `a` and `A`
--- stand for the only choice of their kind; beside numbers the border leaves them out, and they say
--- so if several are of the kind. Where the user edits there are no numbers: they are counts.
---@param request eca.Request as it was shown
---@param now eca.Pending the same as it is pending now
---@param all? eca.Choice allows all pending calls of the chat
---@param edits? boolean the user edits what waits
---@return eca.Choice[]
function M.of(request, now, all, edits)
  local keys, plain = {}, edits or not now.listed ---@type eca.Choice[], boolean
  for number, choice in ipairs(not plain and now.choices or {}) do
    if number <= NUMBERED then
      keys[number] = {
        key = tostring(number),
        text = decide.WORDS[choice.kind],
        about = choice.name,
        main = choice.kind == 'allow_always' and 'later' or true,
        run = function()
          decide.choose(request, choice)
        end,
      }
    end
  end
  ---@param key string
  ---@param text string
  ---@param about string
  ---@param run fun()
  local function add(key, text, about, run)
    local is_main, shown = key == 'a' or key == 'r', plain or key == 'R'
    text = shown and text or nil
    keys[#keys + 1] = { key = key, text = text, about = about, main = is_main or nil, run = run }
  end
  if now.listed or decide.only(request, 'allow_once') then
    add('a', 'allow', 'allow', function()
      decide.accept(request)
    end)
  end
  if now.listed or decide.only(request, 'allow_always') then
    add('A', 'always', 'always allow it in this session', function()
      decide.accept(request, true)
    end)
  end
  keys[#keys + 1] = all
  add('r', 'reject', 'reject', function()
    decide.reject(request)
  end)
  add('R', '+ reason', 'reject and say what to do instead', function()
    decide.reject_with_reason(request)
  end)
  return keys
end

return M
