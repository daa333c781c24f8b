--- Where in the input our menu opens: after `@`, `#`, and a `/` that begins the prompt, unless a
--- plugin with a menu of its own asks our language client.
---
--- Rules kept here:
--- - `@` and `#` count where a context token may begin (`eca.context.tokens`): after a blank or a
---   `(`, and not in a code block. A blank written `\ ` is part of the name.
--- - Only the last `LONGEST` bytes before the cursor are read: a key costs the same in any line.
--- - Nothing is completed while the input takes an answer or a secret.
--- - A plugin counts only once it is loaded and would be active in the buffer.
local buffers = require('eca.chat.buffers')
local words = require('eca.context.words')

local M = {}

--- Most bytes of a query, as of a token's name.
local LONGEST = 1000

---@alias eca.CompletionTrigger '@'|'#'|'/'

---@class eca.CompletionPlace
---@field chat string
---@field trigger eca.CompletionTrigger
---@field query string from the trigger to the cursor, as typed
---@field row integer 1-based
---@field start integer 0-based byte column at which the query begins

---@param text string
---@param at integer 1-based byte
---@return boolean
local function is_blank(text, at)
  return text:find('^%s', at) ~= nil and text:sub(at - 1, at - 1) ~= '\\'
end

--- The byte of the last `@` or `#` in the word before the cursor that may begin a token.
---@param before string
---@return integer?
local function sign_before(before)
  for at = #before, math.max(1, #before - LONGEST), -1 do
    local can_begin = at == 1 or before:find('^%(', at - 1) or is_blank(before, at - 1)
    if can_begin and before:find('^[@#]', at) then
      return at
    elseif is_blank(before, at) then
      return nil
    end
  end
end

--- The trigger before a column, and the 0-based column after it.
---@param line string
---@param column integer 0-based bytes
---@param row integer 1-based
---@return eca.CompletionTrigger?, integer?
function M.find(line, column, row)
  local before = line:sub(1, column)
  if row == 1 and #before <= LONGEST and before:find('^/[^%s/]*$') then
    return '/', 1
  end
  local at = sign_before(before)
  if at then
    local sign = before:sub(at, at) --[[@as eca.CompletionTrigger]]
    return sign, at
  end
end

--- The place at a position of a chat's input, if something can be completed there.
---@param buf integer
---@param row integer 1-based
---@param column integer 0-based bytes
---@return eca.CompletionPlace?
function M.at(buf, row, column)
  local chat, kind = buffers.of_buffer(buf)
  if not chat or kind ~= 'input' or chat.question then
    return nil
  end
  local line = vim.api.nvim_buf_get_lines(buf, row - 1, row, false)[1] or ''
  local trigger, start = M.find(line, column, row)
  if trigger and start and not words.code_rows_of(buf)[row] then
    local query = line:sub(start + 1, column)
    return { chat = chat.id, trigger = trigger, query = query, row = row, start = start }
  end
end

--- The place at the cursor of the current window.
---@return eca.CompletionPlace?
function M.at_cursor()
  local cursor = vim.api.nvim_win_get_cursor(0)
  return M.at(vim.api.nvim_get_current_buf(), cursor[1], cursor[2])
end

--- Whether a plugin would be active in a buffer; one that raises an error is not.
---@type table<string, fun(buf: integer): any>
local DRIVERS = {
  ['nvim-cmp'] = function()
    local config = package.loaded.cmp and package.loaded['cmp.config']
    return config
      and config.enabled()
      and vim.iter(config.get().sources):any(function(source)
        return source.name == 'nvim_lsp'
      end)
  end,
  ['blink.cmp'] = function()
    return package.loaded['blink.cmp'] and package.loaded['blink.cmp.config'].enabled()
  end,
  ['mini.completion'] = function(buf)
    local off = vim.g.minicompletion_disable == true or vim.b[buf].minicompletion_disable == true
    return rawget(_G, 'MiniCompletion') ~= nil and not off
  end,
}

--- The plugin that opens a menu in a buffer, if there is one.
---@param buf integer the current one
---@return string? name
function M.driver(buf)
  for name, is_active in pairs(DRIVERS) do
    local worked, active = pcall(is_active, buf)
    if worked and active then
      return name
    end
  end
end

return M
