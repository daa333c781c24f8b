--- Files that have changed while an agent answered that was asked to change none.
---
--- Rule kept here: what the user has written, or a chat whose turn runs, is not told.
local expected = require('eca.chat.expected')
local notify = require('eca.ui.notify')
local paths = require('eca.files.paths')
local sanitize = require('eca.ui.sanitize')
local used_files = require('eca.state.used_files')
local width = require('eca.ui.display_width')

local M = {}

local MOST_NAMED = 2
local NAME_CELLS = 20

local written = {} ---@type table<string, integer> when, by path, in ms

--- Note what the user writes from now on. Calling it again changes nothing.
function M.watch()
  vim.api.nvim_create_autocmd('BufWritePost', {
    group = vim.api.nvim_create_augroup('eca.preview.written', { clear = true }),
    callback = function(event)
      local path = paths.of_buffer(event.buf)
      if path then
        written[path] = vim.uv.now()
      end
    end,
  })
end

--- Note nothing more.
function M.unwatch()
  pcall(vim.api.nvim_del_augroup_by_name, 'eca.preview.written')
end

--- Tell the user which files have changed (op `changed_meanwhile`).
---@param op { paths: string[], more: integer, since: integer }
function M.changed(op)
  local began = vim.uv.now() - op.since
  local others_changed = vim.tbl_filter(function(path)
    local by_chat = vim.iter(used_files.writers(path)):any(function(chat)
      return expected.status(chat).state ~= 'idle'
    end)
    return not by_chat and (written[path] or -math.huge) < began
  end, op.paths)
  if #others_changed == 0 then
    return
  end
  local names = {} ---@type string[]
  for place = 1, math.min(MOST_NAMED, #others_changed) do
    local name = sanitize.line(paths.short(others_changed[place]))
    names[place] = width.tail(name, NAME_CELLS)
  end
  local more = #others_changed - #names + (op.more or 0)
  names[#names + 1] = more > 0 and ('%d more'):format(more) or nil
  local line = 'changed meanwhile: %s; :Eca checkpoints'
  notify.warn(line:format(table.concat(names, ', ')))
end

return M
