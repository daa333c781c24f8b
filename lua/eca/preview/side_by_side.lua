--- A preview as a diff in a tab page of its own: the buffer beside what it would become.
---
--- Rule: `do` and `dp` there are Vim's own, and change the buffer itself; what was taken so is no
--- part of the preview any more.
local diff = require('eca.diff')
local others = require('eca.ui.others')
local region = require('eca.preview.region')

local M = {}

--- The text of a buffer with all hunks accepted that can be.
---@param preview eca.Preview
---@return string[]
local function proposed(preview)
  local lines = vim.api.nvim_buf_get_lines(preview.region.buf, 0, -1, false)
  for place = #preview.hunks, 1, -1 do
    local hunk = preview.hunks[place]
    local first, last = region.place(preview.region, hunk)
    if first then
      local above, below = vim.list_slice(lines, 1, first), vim.list_slice(lines, last + 1)
      lines = vim.list_extend(vim.list_extend(above, hunk.lines), below)
    end
  end
  return lines
end

---@param lines string[]
---@return string
local function text_of(lines)
  return table.concat(lines, '\n') .. '\n'
end

--- Show a preview as a diff.
---@param preview eca.Preview
---@param acts { accept: fun(options: table), drop: fun(options: table) }
function M.open(preview, acts)
  local buf = preview.region.buf
  ---@param key string
  ---@param text string
  ---@param act 'accept'|'drop'
  ---@return eca.Choice
  local function choice(key, text, act)
    return {
      key = key,
      text = text,
      main = true,
      run = function()
        others.call('TabClosed', vim.cmd.tabclose) -- which leads back to where the user was
        acts[act]({ id = preview.id })
      end,
    }
  end
  diff.show({
    chat = 'preview',
    id = preview.id,
    path = vim.api.nvim_buf_get_name(buf),
    buf = buf,
    before = text_of(vim.api.nvim_buf_get_lines(buf, 0, -1, false)),
    after = text_of(proposed(preview)),
    kind = 'changed',
    captions = { 'now', 'new' },
    actions = { choice('a', 'accept all', 'accept'), choice('r', 'reject all', 'drop') },
  })
end

return M
