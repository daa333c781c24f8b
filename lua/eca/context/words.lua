--- The words of a prompt that may be tokens: those after an `@` or a `#`.
---
--- Rules kept here:
--- - A token follows a blank or `(`, so an e-mail address has none.
--- - Fenced code blocks have no tokens: `@property` in pasted code is code. A block that is not
---   closed ends with the text, as in Markdown.
local M = {}

---@class eca.Fence
---@field sign string '`' or '~'
---@field length integer

--- The fence that a line opens, if it does.
---@param line string
---@return eca.Fence?
local function opened(line)
  local ticks, info = line:match('^ ? ? ?(```+)(.*)$')
  local marks = ticks or line:match('^ ? ? ?(~~~+)')
  if not marks or (info and info:find('`', 1, true)) then
    return nil
  end
  return { sign = marks:sub(1, 1), length = #marks }
end

---@param line string
---@param fence eca.Fence
---@return boolean
local function closes(line, fence)
  local marks, rest = line:match('^ ? ? ?(%' .. fence.sign .. '+)(.*)$')
  return marks ~= nil and #marks >= fence.length and not rest:find('%S')
end

--- The rows in fenced code blocks, with the fences themselves.
---@param lines string[]
---@return table<integer, true> rows 1-based
function M.code_rows(lines)
  local rows, fence = {}, nil ---@type table<integer, true>, eca.Fence?
  for row, line in ipairs(lines) do
    if fence then
      rows[row] = true
      fence = not closes(line, fence) and fence or nil
    else
      fence = opened(line)
      rows[row] = fence and true or nil
    end
  end
  return rows
end

--- Call a function for each word of a line after a sign.
---@param line string
---@param sign '@'|'#'
---@param take fun(at: integer, word: string) `at`: the 1-based byte of the sign
function M.of_line(line, sign, take)
  if not line:find(sign, 1, true) then
    return
  end
  -- An escaped blank is part of the name: it is hidden while the line is split into words.
  local hidden = line:gsub('\\ ', '\\\1')
  for at, word in hidden:gmatch('()' .. sign .. '([^%s]+)') do
    if at == 1 or hidden:find('^[%s%(]', at - 1) then
      take(at, (word:gsub('\1', ' ')))
    end
  end
end

--- Call a function for each word of a text after a sign, code blocks left out.
---@param text string
---@param sign '@'|'#'
---@param take fun(at: integer, word: string) `at`: the 1-based byte of the sign in the text
function M.of_text(text, sign, take)
  if not text:find(sign, 1, true) then
    return
  end
  local lines = vim.split(text, '\n', { plain = true })
  local code, start = M.code_rows(lines), 0
  for row, line in ipairs(lines) do
    if not code[row] then
      local before = start
      M.of_line(line, sign, function(at, word)
        take(before + at, word)
      end)
    end
    start = start + #line + 1
  end
end

return M
