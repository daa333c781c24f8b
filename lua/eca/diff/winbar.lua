--- The winbars of the two sides of a diff: what each side is, and the keys.
---
--- Rules kept here:
--- - If there is too little room, only some keys are listed with what they do.
--- - What was not on the screen yet is counted beside the keys.
local decide = require('eca.input.decide')
local diff_screen = require('eca.diff.screen')
local footer = require('eca.ui.footer')
local others = require('eca.ui.others')
local paths = require('eca.files.paths')
local sanitize = require('eca.ui.sanitize')

local M = {}

--- Cells that the keys get in any case, enough for them without what they do.
local LEAST_KEYS = 14

---@type table<string, string>
local PROPOSED = { new = 'new file', deleted = 'to be deleted', moved = 'to be moved' }

local NEXT = { key = ']c', text = 'next' }

---@param tab eca.DiffTab
---@return string left, string right
local function captions(tab)
  local diff = tab.diff
  local name, file = paths.short(diff.path), diff.file
  name = file and ('%s  %d/%d'):format(name, file.place + 1, file.count) or name
  if diff.captions then
    return ('%s  %s'):format(name, diff.captions[1]), diff.captions[2]
  end
  if diff.fault then
    return name .. '  now', 'does not apply'
  elseif not diff.request then
    return name .. '  before', 'after'
  end
  local now = decide.now(diff.request)
  if now and now.digest ~= diff.request.digest then
    return name .. '  now', 'outdated proposal'
  end
  return name .. '  now', now and now.stands or PROPOSED[diff.kind] or 'proposed'
end

--- The keys with what they do, as in the footer of a float.
---@param list eca.Choice[]
---@param room integer cells
---@return string
local function keys_text(list, room)
  local pieces = vim.tbl_map(function(segment)
    return ('%%#%s#%s'):format(segment[2], segment[1])
  end, footer.of(footer.keys(list), room))
  return table.concat(pieces)
end

--- What was not on the screen yet, to stand before the keys.
---@param tab eca.DiffTab
---@param room integer cells
---@return string text, integer cells
local function unseen_text(tab, room)
  local words, short = diff_screen.unseen(tab)
  local text = words and (#words + LEAST_KEYS <= room and words or short)
  if not text then
    return '', 0
  end
  return ('%%#EcaWarning#%s%%* '):format(text), #text + 2
end

--- Draw both winbars for the width of their windows.
---@param tab eca.DiffTab
---@param actions eca.Choice[] keys of the scratch side
function M.draw(tab, actions)
  local escape = sanitize.statusline
  local texts = { captions(tab) }
  for place, win in ipairs(tab.wins) do
    if vim.api.nvim_win_is_valid(win) then
      local text = escape(texts[place])
      local wrong = tab.diff.fault and place == 2
      local bound = vim.api.nvim_win_get_buf(win) == tab.sides.bound
      local list = bound and actions or { NEXT }
      local room = vim.api.nvim_win_get_width(win) - vim.api.nvim_strwidth(texts[place]) - 3
      local unseen, cells = '', 0
      if bound then
        unseen, cells = unseen_text(tab, room)
      end
      room = math.max(room - cells, bound and LEAST_KEYS or 0)
      local caption = ('%%#%s#%s%%*'):format(wrong and 'EcaError' or 'EcaWinbarTitle', text)
      local keys = keys_text(list, room)
      others.set_winbar(win, (' %%<%s%%=%s%s%%* '):format(caption, unseen, keys))
    end
  end
end

return M
