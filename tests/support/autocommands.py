"""No autocommand of ours opens, closes or changes a window: every test with a screen checks it.

A window that is closed while it is left makes Neovim 0.12 use freed memory, and end. Which window
an event is about, and what Neovim does with it next, differs between events and versions. So all of
them are checked, whatever opens or closes: the windows are compared before and after the callback.
"""

WATCHED = """
local create = vim.api.nvim_create_autocmd

--- Complain about a callback that changed the windows.
local function complain(event, run)
  local place = debug.getinfo(run, 'S')
  local text = 'an autocommand of ours changed windows: %s, %s:%d'
  local line = text:format(event, place.short_src, place.linedefined)
  vim.g.changed_windows = vim.list_extend(vim.g.changed_windows or {}, { line })
end

local function watched(run)
  return function(event)
    local windows, here = vim.api.nvim_list_wins(), vim.api.nvim_get_current_win()
    local result = run(event)
    local same = vim.deep_equal(windows, vim.api.nvim_list_wins())
    if not same or here ~= vim.api.nvim_get_current_win() then
      complain(event.event, run)
    end
    return result
  end
end

vim.api.nvim_create_autocmd = function(events, options)
  local run = options.callback
  local ours = type(run) == 'function' and debug.getinfo(run, 'S').source:find('/lua/eca/', 1, true)
  if ours and events ~= 'User' then -- our own events come when we send them
    options = vim.tbl_extend('force', options, { callback = watched(run) })
  end
  return create(events, options)
end
"""
"""Lua code for the start, before the plugin is loaded."""
