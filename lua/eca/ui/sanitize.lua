--- Makes foreign text safe for one line of the screen: a winbar, a message, a row of a list.
---
--- Rules kept here:
--- - Runs of control characters become a space. Characters that are invisible or change the
---   direction of text are written out, as in `<U+202E>`.
--- - The host has cleaned the text of the agent already; this is for file names and other sources.
local M = {}

--- First and last of the code points that are written out.
---@type [integer, integer][]
local INVISIBLE = {
  { 0x80, 0x9F },
  { 0xAD, 0xAD },
  { 0x34F, 0x34F },
  { 0x61C, 0x61C },
  { 0x115F, 0x1160 },
  { 0x17B4, 0x17B5 },
  { 0x180B, 0x180F },
  { 0x200B, 0x200B },
  { 0x200E, 0x200F },
  { 0x2028, 0x202E },
  { 0x2060, 0x206F },
  { 0x3164, 0x3164 },
  { 0xFEFF, 0xFEFF },
  { 0xFFA0, 0xFFA0 },
  { 0xFFF0, 0xFFFB },
  { 0x13430, 0x1343F },
  { 0x16FE4, 0x16FE4 },
  { 0x1BCA0, 0x1BCA3 },
  { 0x1D159, 0x1D159 },
  { 0x1D173, 0x1D17A },
  { 0xE0000, 0xE00FF },
  { 0xE01F0, 0xE0FFF },
}

--- Joiners and variation selectors: written out only after ASCII.
---@type [integer, integer][]
local JOINERS = { { 0x200C, 0x200D }, { 0xFE00, 0xFE0F }, { 0xE0100, 0xE01EF } }

---@param code integer
---@param ranges [integer, integer][]
---@return boolean
local function within(code, ranges)
  for _, range in ipairs(ranges) do
    if code >= range[1] and code <= range[2] then
      return true
    end
  end
  return false
end

--- Returns a function to call with the characters of a text in order. It returns an invisible
--- character written out, and nil for a visible one.
---@param text string
---@return fun(place: integer, character: string): string?
local function writer(text)
  local written = 0 -- last byte of the last character that was written out
  return function(place, character)
    local code = vim.fn.char2nr(character, true)
    local joins = place > 1 and text:byte(place - 1) >= 128 and written ~= place - 1
    if within(code, INVISIBLE) or (not joins and within(code, JOINERS)) then
      written = place + #character - 1
      return ('<U+%04X>'):format(code)
    end
  end
end

local MANY_BYTES = '()([\194-\244][\128-\191]+)'

--- Write out invisible characters; line breaks and other control characters stay.
---@param text string
---@return string
function M.visible(text)
  return (text:gsub(MANY_BYTES, writer(text)))
end

--- Find the invisible characters in a line of a buffer, except those that Neovim writes out itself.
---@param line string
---@return { column: integer, text: string }[] byte columns from 0
function M.invisible(line)
  local found, write = {}, writer(line) ---@type { column: integer, text: string }[]
  for place, character in line:gmatch(MANY_BYTES) do
    local text = write(place, character)
    if text and vim.fn.strdisplaywidth(character) <= 2 then
      found[#found + 1] = { column = place - 1, text = text }
    end
  end
  return found
end

--- Make a text one line without control characters and invisible ones.
---@param text string
---@return string
function M.line(text)
  return M.visible((text:gsub('%c+', ' ')))
end

--- Make text safe for a statusline or winbar: one line, and no part of it is a statusline item.
---@param text string
---@return string
function M.statusline(text)
  return (M.line(text):gsub('%%', '%%%%'))
end

return M
