--- Makes foreign text safe for one line of the screen: a winbar, a message, a row of a list.
---
--- Rules kept here:
--- - Runs of control characters become a space. Characters that are invisible or change the
---   direction of text are written out, as in `<U+202E>`.
--- - The host has cleaned the text of the agent already; this is for file names and other sources.
local M = {}

--- The code points that are written out, first and last, in order. Joiners and variation selectors
--- (`true`) are part of the character before them unless that is ASCII or written out itself.
---@type [integer, integer, true?][]
local INVISIBLE = {
  { 0x80, 0x9F },
  { 0xAD, 0xAD },
  { 0x34F, 0x34F },
  { 0x61C, 0x61C },
  { 0x115F, 0x1160 },
  { 0x17B4, 0x17B5 },
  { 0x180B, 0x180F },
  { 0x200B, 0x200B },
  { 0x200C, 0x200D, true },
  { 0x200E, 0x200F },
  { 0x2028, 0x202E },
  { 0x2060, 0x206F },
  { 0x3164, 0x3164 },
  { 0xFE00, 0xFE0F, true },
  { 0xFEFF, 0xFEFF },
  { 0xFFA0, 0xFFA0 },
  { 0xFFF0, 0xFFFB },
  { 0x13430, 0x1343F },
  { 0x16FE4, 0x16FE4 },
  { 0x1BCA0, 0x1BCA3 },
  { 0x1D159, 0x1D159 },
  { 0x1D173, 0x1D17A },
  { 0xE0000, 0xE00FF },
  { 0xE0100, 0xE01EF, true },
  { 0xE01F0, 0xE0FFF },
}

local MANY_BYTES = '()([\194-\244][\128-\191]+)'

--- Write out invisible characters; line breaks and other control characters stay.
---@param text string
---@param note? fun(place: integer, character: string, written: string) called for each of them with
---  its first byte in the text, 1-based
---@return string
function M.visible(text, note)
  local last = 0 -- byte of the last character that was written out
  local function written(place, character)
    local code = vim.fn.char2nr(character, true)
    for _, range in ipairs(INVISIBLE) do
      if code < range[1] then
        return nil
      elseif code <= range[2] then
        if range[3] and place > 1 and text:byte(place - 1) >= 128 and last ~= place - 1 then
          return nil
        end
        last = place + #character - 1
        local name = ('<U+%04X>'):format(code)
        if note then
          note(place, character, name)
        end
        return name
      end
    end
  end
  return (text:gsub(MANY_BYTES, written))
end

--- Find the invisible characters in a line of a buffer, except those that Neovim writes out itself.
---@param line string
---@return { column: integer, text: string }[] byte columns from 0
function M.invisible(line)
  local found = {} ---@type { column: integer, text: string }[]
  M.visible(line, function(place, character, text)
    if vim.fn.strdisplaywidth(character) <= 2 then
      found[#found + 1] = { column = place - 1, text = text }
    end
  end)
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
