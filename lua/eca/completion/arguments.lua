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
local input_mode = require('eca.state.input_mode')
local rows = require('eca.completion.rows')
local sanitize = require('eca.ui.sanitize')
local scan = require('eca.text.scan')

local M = {}

--- Write an argument as the server reads it.
---@param text string
---@return string
function M.quote(text)
  if text ~= '' and not text:find('[%s"]') then
    return text
  end
  return ('"%s"'):format(text:gsub('"', "'"))
end

---@param item eca.CompletionItem
---@return eca.CompletionArgument[]
local function required(item)
  return vim.tbl_filter(function(argument)
    return argument.required
  end, item.arguments or {})
end

--- Put a command and its arguments into the input, in the place of the command alone.
---@param buf integer
---@param bare string
---@param values string[]
local function write(buf, bare, values)
  local text = table.concat({ bare, unpack(vim.tbl_map(M.quote, values)) }, ' ')
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
function M.ask(chat, item)
  local wanted, values = required(item), {} ---@type eca.CompletionArgument[], string[]
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
  next_one()
end

--- Ask for the arguments of an item that was just accepted in the current input.
---@param item eca.CompletionItem
function M.ask_in_input(item)
  local chat, kind = buffers.of_buffer(vim.api.nvim_get_current_buf())
  if chat and kind == 'input' and rows.needs_arguments(item) then
    M.ask(chat.id, item)
  end
end

--- Ask for the arguments of the command in a chat's input, if nothing stands behind it.
---@param chat eca.Chat
---@return boolean asked false: the draft can be sent
function M.ask_for_draft(chat)
  if not input_mode.takes_prompt(chat.id) then
    return false
  end
  local name = field.draft(chat.input):match('^/(%S+)%s*$')
  local item = name and answers.command(chat.id, name)
  if item and rows.needs_arguments(item) then
    M.ask(chat.id, item)
    return true
  end
  return false
end

return M
