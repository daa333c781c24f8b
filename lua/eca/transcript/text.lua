--- Splits text for a block into lines, without blank rows at either end of the block.
---
--- Rules kept here:
--- - Line breaks at the end of a block's text are held back until more text follows.
--- - Text is never joined with what is in the buffer, so the cost depends only on the new text.
local M = {}

local BREAK = 10

--- Split a part of a text at its line breaks. The part is not copied before.
---@param text string
---@param first integer byte
---@param last integer byte, inclusive
---@param breaks integer line breaks to put before it
---@return string[] at least one
local function lines_of(text, first, last, breaks)
  local lines, count, from = {}, 0, first
  while count < breaks do
    count = count + 1
    lines[count] = ''
  end
  while true do
    local at = text:find('\n', from, true)
    count = count + 1
    if not at or at > last then
      lines[count] = text:sub(from, last)
      return lines
    end
    lines[count] = text:sub(from, at - 1)
    from = at + 1
  end
end

---@param text string
---@return integer length without the line breaks at its end
local function content_length(text)
  local length = #text
  while length > 0 and text:byte(length) == BREAK do
    length = length - 1
  end
  return length
end

--- The lines to write when text is appended to a block; nil if there is nothing to write yet.
---@param block eca.Block
---@param text string
---@return string[]? lines the first continues the block's last row
---@return integer held number of line breaks to hold back
function M.take(block, text)
  local length = content_length(text)
  local breaks = #text - length
  if block.empty then
    local start = text:find('[^\n]')
    if not start then
      return nil, 0
    end
    return lines_of(text, start, length, block.headed and 1 or 0), breaks
  end
  if length == 0 then
    return nil, block.held + breaks
  end
  return lines_of(text, 1, length, block.held), breaks
end

return M
