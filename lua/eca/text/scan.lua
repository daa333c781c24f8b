--- Scans foreign text in linear time.
---
--- Rules kept here:
--- - A pattern that ends with a run and `$`, such as `%s+$`, takes quadratic time. Use these
---   functions instead; a test keeps such patterns out of all other files.
--- - `vim.trim` has the same problem with a text of only blanks.
local M = {}

--- The first byte of the run of characters at the end of a text.
---@param text string
---@param class string pattern of one character
---@return integer first 1-based; one beyond the end if there is no such run
function M.end_run(text, class)
  local last = #text
  while last > 0 and text:find('^' .. class, last) do
    last = last - 1
  end
  return last + 1
end

--- A text without the run of characters at its end.
---@param text string
---@param class string pattern of one character
---@return string
function M.without_end(text, class)
  return text:sub(1, M.end_run(text, class) - 1)
end

--- A text without blanks at either end.
---@param text string
---@return string
function M.trim(text)
  local first = text:find('%S')
  return first and M.without_end(text:sub(first), '%s') or ''
end

return M
