--- A language client inside Neovim, attached to the inputs: completion for plugins that open a menu
--- of their own (nvim-cmp, blink.cmp, mini.completion), for omni completion, and for
--- `vim.lsp.completion.get()`.
---
--- Rules kept here:
--- - It completes and does nothing else, and gets no text.
--- - It attaches like any language client, so `LspAttach` runs. Our own keys in the input are then
---   put back if an autocommand has mapped over them.
local answers = require('eca.completion.answers')
local arguments = require('eca.completion.arguments')
local buffers = require('eca.chat.buffers')
local language_server = require('eca.editor.language_server')
local others = require('eca.ui.others')
local places = require('eca.completion.place')
local rows = require('eca.completion.rows')
local symbols = require('eca.completion.symbols')

local M = {}

local NAME = 'eca'

--- Milliseconds in which the host answers, usually. A plugin's menu cannot be updated later.
M.PATIENCE = 300

local CAPABILITIES = {
  completionProvider = { triggerCharacters = { '@', '#', '/' } },
  executeCommandProvider = { commands = { rows.ASK_ARGUMENTS } },
  positionEncoding = 'utf-16',
}

---@param params table
---@return eca.CompletionPlace?
local function place_of(params)
  local row, column = params.position.line, params.position.character
  for _, id in ipairs(buffers.ids()) do -- Neovim's own function for a URI would open any other file
    local buf = assert(buffers.get(id)).input
    if vim.api.nvim_buf_is_loaded(buf) and vim.uri_from_bufnr(buf) == params.textDocument.uri then
      local line = vim.api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
      local byte = vim.fn.byteidx(line, column, true)
      return places.at(buf, row + 1, byte < 0 and #line or byte)
    end
  end
end

--- The items for a place, as a language server lists them. They always may be more: another key
--- asks the host again.
---@param place? eca.CompletionPlace
---@param params table
---@return table
local function list_of(place, params)
  local items, cursor = {}, params.position ---@type table[], table
  for index, item in ipairs(place and answers.known(place) or {}) do
    local start = cursor.character - vim.fn.strutf16len(place.query)
    local range = { start = { line = cursor.line, character = start }, ['end'] = cursor }
    items[index] = rows.protocol_item(item, index, range)
  end
  return { isIncomplete = place ~= nil, items = items }
end

---@type table<string, fun(params: table, reply: eca.ProtocolReply)>
local METHODS = {
  ['textDocument/completion'] = function(params, reply)
    local place = place_of(params)
    if not place then
      return reply(nil, list_of(nil, params))
    end
    answers.ask(place)
    local of_servers = symbols.name_in(place.trigger, place.query)
    answers.wait(place, of_servers and symbols.PATIENCE or M.PATIENCE, function()
      reply(nil, list_of(buffers.get(place.chat) and place, params))
    end)
  end,
  ['workspace/executeCommand'] = function(params, reply)
    if params.command == rows.ASK_ARGUMENTS then
      arguments.ask_in_input(params.arguments[1])
    end
    reply(nil, vim.NIL)
  end,
}

--- Our keys in a buffer, by mode and left side.
---@param buf integer
---@return table<string, table>
local function keys_of(buf)
  local found = {} ---@type table<string, table>
  for _, mode in ipairs({ 'n', 'i' }) do
    for _, map in ipairs(vim.api.nvim_buf_get_keymap(buf, mode)) do
      if vim.startswith(map.desc or '', 'eca: ') then
        found[mode .. map.lhs] = map
      end
    end
  end
  return found
end

--- Load Neovim's own part of the client. This takes as long as to attach it the first time.
---@return table
function M.load()
  -- It makes this folder, and fails if our host does so at the same time. Here that does no harm.
  pcall(vim.fn.mkdir, vim.fn.stdpath('log') --[[@as string]], 'p')
  return vim.lsp
end

--- Attach to an input, if that is not done yet.
---@param buf integer
function M.attach(buf)
  if #M.load().get_clients({ bufnr = buf, name = NAME }) > 0 then
    return
  end
  local before = keys_of(buf)
  local id = others.call('LspAttach', vim.lsp.start, {
    name = NAME,
    cmd = language_server.command(NAME, CAPABILITIES, METHODS),
  }, { bufnr = buf, silent = true, reuse_client = language_server.is_named(NAME) })
  if id and vim.fn.has('nvim-0.11') == 1 then
    vim.lsp.completion.enable(true, id, buf)
  end
  local after = keys_of(buf)
  vim.api.nvim_buf_call(buf, function()
    for key, map in pairs(before) do
      if not vim.deep_equal(after[key], map) then
        vim.fn.mapset(map.mode, false, map)
      end
    end
  end)
end

--- Detach from an input that is about to be unloaded. Neovim 0.10 detaches when the text is already
--- gone, and shows an error.
---@param buf integer
function M.detach(buf)
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf, name = NAME })) do
    vim.lsp.buf_detach_client(buf, client.id)
  end
end

return M
