--- Draws Markdown: highlights and conceals only in the rows being drawn.
---
--- Rules kept here:
--- - A decoration provider sets ephemeral marks while a row is drawn. Nothing is stored per row, so
---   the cost depends on the screen and not on the chat, and text can arrive at full speed.
--- - The transcript says which rows are Markdown; `fences.lua` says which of them are code.
--- - Buffers are not changed while drawing; highlighting of code is requested and done later.
local blocks = require('eca.transcript.blocks')
local colours = require('eca.markdown.colours')
local fences = require('eca.markdown.fences')
local markdown_line = require('eca.markdown.line')
local places = require('eca.transcript.places')
local tables = require('eca.markdown.tables')
local unbroken = require('eca.markdown.unbroken')

local M = {}

local namespace = vim.api.nvim_create_namespace('eca.markdown')

local LINE_PRIORITY = 90
local INLINE_PRIORITY = 95
--- Cells left of the text.
local MARGIN = 3

--- The rows of the window being drawn.
---@class eca.markdown.Screen
---@field prose table<integer, true> rows of Markdown text
---@field code table<integer, 'code'|'fence'> rows of fenced code

local screen = { prose = {}, code = {} } ---@type eca.markdown.Screen

---@param buf integer
---@param place eca.markdown.PlacedFence
---@param top integer
---@param bottom integer
local function note_fence(buf, place, top, bottom)
  for row = math.max(place.first, top), math.min(place.last - 1, bottom) do
    screen.prose[row] = nil
    screen.code[row] = 'code'
  end
  if screen.code[place.first] then
    screen.code[place.first] = 'fence'
  end
  if place.fence.closed and screen.code[place.last - 1] then
    screen.code[place.last - 1] = 'fence'
  end
  colours.request(buf, place, top, bottom)
end

---@param buf integer
---@param top integer
---@param bottom integer
---@return boolean any row of Markdown
local function survey(buf, top, bottom)
  screen.prose, screen.code = {}, {}
  local written = places.written_between(buf, top, bottom)
  for _, each in ipairs(written) do
    local first = each.block.headed and each.first + 1 or each.first
    local last = blocks.PROSE[each.block.kind] and math.min(each.last, bottom) or -1
    for row = math.max(first, top), last do
      screen.prose[row] = true
    end
  end
  for _, place in ipairs(fences.of_blocks(buf, written, top, bottom)) do
    if place.fence.bare then
      colours.request(buf, place, top, bottom)
    else
      note_fence(buf, place, top, bottom)
    end
  end
  tables.request(buf, written, top, bottom)
  return next(screen.prose) ~= nil or next(screen.code) ~= nil
end

---@param buf integer
---@param row integer
---@param options vim.api.keyset.set_extmark
---@param column? integer
local function place(buf, row, options, column)
  options.ephemeral = true
  vim.api.nvim_buf_set_extmark(buf, namespace, row, column or 0, options)
end

---@param win integer
---@param buf integer
---@param row integer
local function draw_prose(win, buf, row)
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  local parsed = line and markdown_line.parse(line)
  if not parsed then
    return
  end
  if parsed.overlay then
    place(buf, row, { virt_text = { { parsed.overlay, parsed.group } }, virt_text_pos = 'overlay' })
  elseif parsed.group then
    place(buf, row, { end_col = #line, hl_group = parsed.group, priority = LINE_PRIORITY })
  end
  if line:find('`', 1, true) then
    unbroken.request(win, buf, row, line, parsed.regions, MARGIN)
  end
  for _, region in ipairs(parsed.regions) do
    local sign = region.overlay
    if sign and vim.fn.strdisplaywidth(sign) > region.last - region.first then
      sign = nil -- 'ambiwidth' is double
    end
    place(buf, row, {
      end_col = region.last,
      hl_group = region.group,
      conceal = region.conceal,
      url = region.url,
      virt_text = sign and { { sign, region.group } },
      virt_text_pos = sign and 'overlay',
      virt_text_repeat_linebreak = region.repeats,
      priority = INLINE_PRIORITY,
    }, region.first)
  end
end

--- Draw the background of a row of code. A fence shows what follows its signs: the language.
---@param win integer
---@param buf integer
---@param row integer
---@param kind 'code'|'fence'
local function draw_code(win, buf, row, kind)
  place(buf, row, {
    end_row = row + 1,
    end_col = 0,
    hl_group = 'EcaCodeBlock',
    hl_eol = true,
    strict = false,
    priority = LINE_PRIORITY,
  })
  local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
  local indent = line:match('^%s+')
  if indent and #line > vim.api.nvim_win_get_width(win) - MARGIN then
    -- the indent of wrapped rows has no highlight of its own
    place(buf, row, {
      virt_text = { { (' '):rep(vim.fn.strdisplaywidth(indent)), 'EcaCodeBlock' } },
      virt_text_pos = 'overlay',
      virt_text_repeat_linebreak = true,
    })
  end
  local first, signs, label = line:match('^%s*()([`~]+%s*)(.*)$')
  if first and kind == 'fence' then
    place(buf, row, {
      virt_text = { { label .. (' '):rep(#signs), 'EcaFence' } },
      virt_text_pos = 'overlay',
      hl_mode = 'combine',
    }, first - 1)
  end
end

vim.api.nvim_set_decoration_provider(namespace, {
  on_win = function(_, _, buf, top, bottom)
    return places.is_transcript(buf) and survey(buf, top, bottom)
  end,
  on_line = function(_, win, buf, row)
    local kind = screen.code[row]
    if kind then
      draw_code(win, buf, row, kind)
    elseif screen.prose[row] then
      draw_prose(win, buf, row)
    end
  end,
})

M.namespace = namespace

return M
