--- Colours context tokens in the inputs while a row is drawn: what is coloured will be sent. A
--- word that reads as a file, folder or buffer that does not exist is marked, with a note after the
--- line. A note also names the buffers that are meant by their numbers.
---
--- Rules kept here: nothing is stored, so nothing can differ from the text. The cost depends on the
--- rows on the screen alone, and once per change on the length of the text (`words`).
local chats = require('eca.chat.buffers')
local mirror = require('eca.state.mirror')
local sanitize = require('eca.ui.sanitize')
local scan = require('eca.text.scan')
local tokens = require('eca.context.tokens')
local words = require('eca.context.words')

local namespace = vim.api.nvim_create_namespace('eca.context.highlight')

---@param buf integer
---@param row integer 0-based
---@param place eca.ContextToken|eca.MissingWord
---@param group string
local function mark(buf, row, place, group)
  vim.api.nvim_buf_set_extmark(buf, namespace, row, place.first - 1, {
    end_col = place.last,
    hl_group = group,
    ephemeral = true,
  })
end

--- What the tokens of a row do not say: which buffers and chats they are, and how much is sent.
---@param items eca.Context[]
---@param chat? string the chat that they are sent to
---@return string?
local function note(items, chat)
  local names, sized = {}, {} ---@type string[], eca.Context[]
  for _, item in ipairs(items) do
    if item.type == 'buffer' then
      names[#names + 1] = vim.fs.basename(require('eca.context.texts').name(item.buf))
    elseif item.type == 'chat' then
      names[#names + 1] = mirror.title(item.chat)
    end
    sized[#sized + 1] = item.type ~= 'file' and item or nil
  end
  local size = #sized > 0 and require('eca.context.sizes').words(sized, chat) -- late: rarely needed
  local shown = scan.trim(('%s %s'):format(table.concat(names, ', '), size or ''))
  return shown ~= '' and sanitize.line(shown) or nil
end

---@param buf integer
---@param row integer 0-based
---@param line string
local function draw(buf, row, line)
  local found = tokens.find(line, words.of_line)
  local gone = tokens.find_missing(line, words.of_line, { '@', '#' })
  local chat = chats.of_buffer(buf)
  local chunks, items = {}, {} ---@type [string, string][], eca.Context[]
  for _, token in ipairs(found) do
    mark(buf, row, token, 'EcaContext')
    items[#items + 1] = token.context
  end
  local shown = note(items, chat and chat.id)
  chunks[1] = shown and { ('→ %s '):format(shown), 'EcaPlaceholder' } or nil
  local fault = '✗ not found'
  for _, word in ipairs(gone) do
    mark(buf, row, word, 'EcaContextMissing')
    fault = vim.startswith(word.text, '@symbol:') and '✗ choose one in the menu' or fault
  end
  chunks[#chunks + 1] = #gone > 0 and { fault, 'EcaContextMissing' } or nil
  if #chunks > 0 then
    local opts = { virt_text = chunks, virt_text_pos = 'eol', ephemeral = true }
    vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, opts)
  end
end

vim.api.nvim_set_decoration_provider(namespace, {
  on_win = function(_, _, buf)
    return vim.bo[buf].filetype == 'eca-input'
  end,
  on_line = function(_, _, buf, row)
    local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
    if line:find('[@#]') and not words.code_rows_of(buf)[row + 1] then
      draw(buf, row, line)
    end
  end,
})
