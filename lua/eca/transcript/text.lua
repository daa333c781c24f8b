--- Splits text for a block into lines, without blank rows at either end of the block.
---
--- Rules kept here:
--- - Line breaks at the end of a block's text are held back until more text follows.
--- - Text is never joined with what is in the buffer, so the cost depends only on the new text.
local M = {}

local BREAK = 10

--- Split a text at its line breaks.
---@param text string
---@return string[] at least one
function M.lines(text)
  local lines, count, from = {}, 0, 1
  while true do
    local at = text:find('\n', from, true)
    count = count + 1
    if not at then
      lines[count] = text:sub(from)
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
    local content = text:sub(start, length)
    return M.lines(block.headed and '\n' .. content or content), breaks
  end
  if length == 0 then
    return nil, block.held + breaks
  end
  return M.lines(('\n'):rep(block.held) .. text:sub(1, length)), breaks
end

return M
