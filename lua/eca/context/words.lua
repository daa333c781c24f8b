--- The words of a prompt that may be tokens: those after an `@` or a `#`.
---
--- Rules kept here:
--- - A token follows a blank or `(`, so an e-mail address has none.
--- - Fenced code blocks have no tokens: `@property` in pasted code is code. A block that is not
---   closed ends with the text, as in Markdown. Those of an input are found once per change of it.
--- - Of each sign the first words of a text count, so that pasted text with 100,000 of them costs
---   no more than a frame.
local M = {}

--- Most words of a text that are looked at, for each sign.
local MOST_WORDS = 1000

---@class eca.Fence
---@field sign string '`' or '~'
---@field length integer

--- The fence that a line opens, if it does.
---@param line string
---@return eca.Fence?
local function opened(line)
  if not line:find('^ ? ? ?[`~]') then
    return nil
  end
  local ticks, info = line:match('^ ? ? ?(```+)(.*)$')
  local marks = ticks or line:match('^ ? ? ?(~~~+)')
  if not marks or (info and info:find('`', 1, true)) then
    return nil
  end
  return { sign = marks:sub(1, 1), length = #marks }
end

--- The rows in fenced code blocks, with the fences themselves.
---@param lines string[]
---@return table<integer, true> rows 1-based
function M.code_rows(lines)
  local rows, fence = {}, nil ---@type table<integer, true>, eca.Fence?
  for row, line in ipairs(lines) do
    if fence then
      local marks, rest = line:match('^ ? ? ?(%' .. fence.sign .. '+)(.*)$')
      local closes = marks and #marks >= fence.length and not rest:find('%S')
      rows[row], fence = true, not closes and fence or nil
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
---@param most? integer words at most
---@return integer count words
function M.of_line(line, sign, take, most)
  local count = 0
  if not line:find(sign .. '%S') then
    return count
  end
  -- An escaped blank is part of the name: it is hidden while the line is split into words.
  local hidden = line:gsub('\\ ', '\\\1')
  for at, word in hidden:gmatch('()' .. sign .. '([^%s]+)') do
    if count >= (most or MOST_WORDS) then
      break
    elseif at == 1 or hidden:find('^[%s%(]', at - 1) then
      count = count + 1
      take(at, (word:gsub('\1', ' ')))
    end
  end
  return count
end

--- Call a function for each word of a text after a sign, code blocks left out.
---@param text string
---@param sign '@'|'#'
---@param take fun(at: integer, word: string) `at`: the 1-based byte of the sign in the text
function M.of_text(text, sign, take)
  if not text:find(sign .. '%S') then
    return
  end
  local lines = vim.split(text, '\n', { plain = true })
  local code, start, left = M.code_rows(lines), 0, MOST_WORDS
  for row, line in ipairs(lines) do
    if not code[row] then
      left = left
        - M.of_line(line, sign, function(at, word)
          take(start + at, word)
        end, left)
    end
    start = start + #line + 1
  end
end

---@class eca.KnownCode
---@field buf integer
---@field tick integer
---@field rows table<integer, true>

local known ---@type eca.KnownCode? of the buffer that was asked for last

--- The rows of a buffer in code blocks.
---@param buf integer
---@return table<integer, true> rows 1-based
function M.code_rows_of(buf)
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  if not known or known.buf ~= buf or known.tick ~= tick then
    local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
    known = { buf = buf, tick = tick, rows = M.code_rows(lines) }
  end
  return known.rows
end

return M
