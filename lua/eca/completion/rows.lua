--- How an item is shown and inserted: as a row of Vim's menu, and as an item of a language server.
---
--- Rules kept here: labels and details are one line each. What is inserted is plain text, never a
--- snippet.
local display_width = require('eca.ui.display_width')
local symbols = require('eca.completion.symbols')

local M = {}

--- The name of the client's command that asks for the arguments of an accepted item.
M.ASK_ARGUMENTS = 'eca.ask_arguments'

--- Cells of the menu for what stands beside a long label, and for the label at least.
local DETAIL_CELLS, LEAST_LABEL = 10, 20

local PLAIN_TEXT = 1

--- blink.cmp adds this to an item's score. Its other sources offer what a token cannot mean, such
--- as the root folder after `/`, and would come first.
local BEFORE_OTHERS = 100

--- The kinds of items as those of the language server protocol. None is a snippet: plugins mark
--- these as texts that change when they are inserted. None is a function: plugins put brackets
--- after these.
---@type table<string, integer>
local PROTOCOL_KINDS = {
  file = 17,
  buffer = 17,
  folder = 19,
  cursor = 18,
  resource = 18,
  terminal = 18,
  chat = 18,
  selection = 18,
  diagnostics = 23,
  quickfix = 23,
  diff = 23,
  symbol = 18,
  command = 14,
  prompt = 14,
  template = 14,
  skill = 9,
}
local OTHER_KIND = 1

--- The cells for labels in a menu that begins at a byte of the current window. Vim cuts details at
--- the edge of the screen.
---@param row integer 1-based
---@param column integer 0-based bytes
---@return integer
function M.label_cells(row, column)
  local first = vim.fn.screenpos(0, row, column + 1).col
  return math.max(LEAST_LABEL, vim.o.columns - first - DETAIL_CELLS)
end

--- The row of an item in Vim's menu, as `complete()` takes it: its label, and its details or else
--- its kind. Of a long path the end is shown, as the file's name is there.
---@param item eca.CompletionItem
---@param cells integer for its label
---@return table<string, any>
function M.menu_row(item, cells)
  local is_long = vim.api.nvim_strwidth(item.label) > cells
  return {
    word = item.text,
    abbr = is_long and display_width.pad_path(item.label, cells) or item.label,
    menu = item.detail ~= '' and item.detail or item.kind,
    icase = 1,
    dup = 1,
    user_data = { eca = item },
  }
end

--- What there is to read about an item.
---@param item eca.CompletionItem
---@return string
local function documentation(item)
  local lines = { item.detail ~= '' and item.detail or item.label }
  for _, argument in ipairs(item.arguments or {}) do
    local need = argument.required and 'required' or 'optional'
    lines[#lines + 1] = ('%s (%s): %s'):format(argument.name, need, argument.description)
  end
  return table.concat(lines, '\n')
end

--- The arguments that an item needs.
---@param item eca.CompletionItem
---@return eca.CompletionArgument[]
function M.required(item)
  return vim.tbl_filter(function(argument)
    return argument.required
  end, item.arguments or {})
end

--- An item as a language server offers it.
---@param item eca.CompletionItem
---@param index integer its place in the order to show
---@param range table of the query
---@return table
function M.protocol_item(item, index, range)
  local ask = { title = 'Ask for its arguments', command = M.ASK_ARGUMENTS, arguments = { item } }
  return {
    label = item.label,
    kind = PROTOCOL_KINDS[item.kind] or OTHER_KIND,
    detail = item.detail ~= '' and item.detail or nil,
    documentation = { kind = 'plaintext', value = documentation(item) },
    sortText = ('%04d'):format(index),
    filterText = item.name and symbols.PREFIX .. item.name or item.text,
    insertTextFormat = PLAIN_TEXT,
    score_offset = BEFORE_OTHERS,
    textEdit = { range = range, newText = item.text },
    command = M.required(item)[1] and ask or nil,
  }
end

return M
