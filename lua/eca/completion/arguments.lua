--- Asks for the required arguments of a command, such as those of an MCP server's prompt, and
--- writes them after it.
---
--- Rules kept here:
--- - One question for each required argument, with its description. `<Esc>` ends the questions, and
---   what was typed until then is in the input.
--- - An argument with blanks is quoted as the ECA server reads it: between `"`, which cannot be
---   escaped and so become `'`.
--- - Text that was changed meanwhile is kept: the command then goes above it.
local answers = require('eca.completion.answers')
local buffers = require('eca.chat.buffers')
local field = require('eca.input.field')
local rows = require('eca.completion.rows')
local sanitize = require('eca.ui.sanitize')
local scan = require('eca.text.scan')

local M = {}

--- Put a command and its arguments into the input, in the place of the command alone.
---@param buf integer
---@param bare string
---@param values string[]
local function write(buf, bare, values)
  local text = bare
  for _, value in ipairs(values) do
    local is_plain = value ~= '' and not value:find('[%s"]')
    text = ('%s %s'):format(text, is_plain and value or ('"%s"'):format(value:gsub('"', "'")))
  end
  local first = vim.api.nvim_buf_get_lines(buf, 0, 1, false)[1]
  if scan.trim(first) ~= bare then
    field.put_back(buf, text)
    return
  end
  vim.api.nvim_buf_set_lines(buf, 0, 1, false, { text })
  field.changed(buf)
  if vim.api.nvim_get_current_buf() == buf then
    vim.api.nvim_win_set_cursor(0, { 1, #text })
  end
end

--- Ask for the required arguments of a command in the input of a chat.
---@param chat string
---@param item eca.CompletionItem
---@return boolean asked false: it needs none
local function ask(chat, item)
  local wanted, values = rows.required(item), {} ---@type eca.CompletionArgument[], string[]
  local function finish()
    if buffers.get(chat) and #values > 0 then
      write(buffers.ensure(chat).input, '/' .. item.text, values)
    end
  end
  local function next_one()
    local argument = wanted[#values + 1]
    if not argument then
      return finish()
    end
    local about = argument.description ~= '' and (' (%s)'):format(argument.description) or ''
    local prompt = sanitize.line(('%s%s: '):format(argument.name, about))
    require('eca.ui.choose').line({ prompt = prompt }, function(text)
      if not text then
        return finish()
      end
      values[#values + 1] = text
      next_one()
    end)
  end
  if #wanted > 0 then
    next_one()
  end
  return #wanted > 0
end

--- Ask for the arguments of an item that was just accepted in the current input.
---@param item eca.CompletionItem
function M.ask_in_input(item)
  local chat, kind = buffers.of_buffer(vim.api.nvim_get_current_buf())
  if chat and kind == 'input' then
    ask(chat.id, item)
  end
end

--- Ask for the arguments of the command in a chat's input, if nothing stands behind it.
---@param chat eca.Chat
---@param draft string
---@return boolean asked false: the draft can be sent
function M.ask_for_draft(chat, draft)
  local name = not chat.question and draft:match('^/(%S+)%s*$')
  local item = name and answers.command(chat.id, name)
  return item and ask(chat.id, item) or false
end

return M
