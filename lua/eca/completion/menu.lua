--- The menu of completion: Vim's own (`complete()`), opened and kept up to date while the user
--- types.
---
--- Rules kept here:
--- - What is shown for a query keeps its place: later items go below, and details may change.
---   Nothing changes while the user has selected an item, and a menu that another completion has
---   opened is left alone.
--- - Nothing is selected at first, so `<CR>` is a new line. It is mapped only while the menu is
---   open, to accept what is selected, and only if the user has no mapping for it.
--- - The option `completeopt` is ours only while the menu is open: other completions in the input
---   use the user's.
--- - A menu that was closed stays closed until the text changes.
local answers = require('eca.completion.answers')
local rows = require('eca.completion.rows')

local M = {}

--- The option `completeopt` while the menu is open. Before 0.11 it is global.
local HAS_LOCAL_OPTION = vim.fn.has('nvim-0.11') == 1
local OPTIONS = HAS_LOCAL_OPTION and 'menuone,noselect,fuzzy,nosort' or 'menuone,noselect'
local SCOPE = { scope = HAS_LOCAL_OPTION and 'local' or 'global' }

---@class eca.ShownMenu
---@field place eca.CompletionPlace
---@field items eca.CompletionItem[]

local shown ---@type eca.ShownMenu?
local closed ---@type eca.CompletionPlace? where the menu was closed
local mapped ---@type integer? the buffer in which `<CR>` is mapped
local user_options ---@type string? the option before the menu was opened
local is_changing = false -- another list replaces the one that is shown

--- Map `<CR>` in the current buffer, unless the user has mapped it.
local function map_enter()
  if mapped or vim.fn.maparg('<CR>', 'i') ~= '' then
    return
  end
  mapped = vim.api.nvim_get_current_buf()
  vim.keymap.set('i', '<CR>', function()
    local is_selected = vim.fn.complete_info({ 'selected' }).selected >= 0
    return vim.fn.pumvisible() == 1 and is_selected and '<C-y>' or '<CR>'
  end, { buffer = mapped, expr = true, desc = 'eca: accept what is selected in the menu' })
end

--- May the menu change now? Not while another completion or a selection is active. A list that was
--- empty leaves its mode behind.
---@return boolean
local function may_change()
  if vim.api.nvim_get_mode().mode:find('^i[cx]?$') == nil then
    return false
  end
  local info = vim.fn.complete_info({ 'mode', 'selected', 'pum_visible' })
  local is_ours = info.mode == 'eval' and (shown ~= nil or info.pum_visible == 0)
  local is_other = info.mode ~= '' and not is_ours
  return not is_other and info.selected < 0
end

--- Let Vim show a list instead of the one that is open. An empty one closes the menu.
---@param column integer 0-based bytes
---@param list table<string, any>[] rows
local function complete(column, list)
  is_changing = true
  local worked, fault = pcall(vim.fn.complete, column + 1, list)
  is_changing = false
  if not worked then
    error(fault, 0) -- such as E565: the text is locked
  end
end

---@param place eca.CompletionPlace
---@param items eca.CompletionItem[]
local function open(place, items)
  local cells = rows.label_cells(place.row, place.start)
  local list = vim.tbl_map(function(item)
    return rows.menu_row(item, cells)
  end, items)
  if not user_options then
    user_options = vim.api.nvim_get_option_value('completeopt', SCOPE)
    vim.api.nvim_set_option_value('completeopt', OPTIONS, SCOPE)
  end
  shown = { place = place, items = items }
  complete(place.start, list)
  map_enter()
end

--- Give back what is ours only while the menu is open.
local function put_back()
  shown = nil
  if mapped and vim.api.nvim_buf_is_valid(mapped) then
    vim.keymap.del('i', '<CR>', { buffer = mapped })
  end
  if user_options then
    vim.api.nvim_set_option_value('completeopt', user_options, SCOPE)
  end
  mapped, user_options = nil, nil
end

--- Close the menu, if ours is open.
---@param column integer 0-based bytes
local function close(column)
  if shown and vim.fn.pumvisible() == 1 then
    complete(column, {})
  end
  put_back()
end

--- Show what is known for a place, or more of it.
---@param place eca.CompletionPlace
---@return boolean open it may change now
function M.show(place)
  if vim.deep_equal(place, closed) or not may_change() then
    return false
  end
  closed = nil
  local before = shown and vim.deep_equal(shown.place, place) and shown.items or {}
  local known = vim.tbl_filter(function(item)
    return item.text ~= place.query -- that is typed already
  end, answers.known(place))
  local items = answers.append(answers.renewed(before, known), known)
  if #items > #before or not vim.deep_equal(vim.list_slice(items, 1, #before), before) then
    open(place, items)
  elseif #items == 0 then
    close(place.start)
  end
  return true
end

--- Called when the user leaves insert mode or the input: Neovim closes the menu.
function M.left()
  closed = nil
  put_back()
end

--- Called when nothing can be completed at the cursor.
function M.nothing()
  if shown and may_change() then
    close(vim.fn.col('.') - 1)
  end
  M.left()
end

--- Called when a menu has closed. Returns the item that was accepted, if the menu was ours.
---@param place? eca.CompletionPlace where the cursor is
---@return eca.CompletionItem?
function M.done(place)
  if is_changing then
    return nil
  end
  local was_ours = shown ~= nil
  local data = vim.tbl_get(vim.v.completed_item, 'user_data', 'eca')
  local item = was_ours and type(data) == 'table' and data or nil
  local is_folder = item and item.kind == 'folder'
  closed = not is_folder and place or nil
  put_back()
  return item
end

return M
