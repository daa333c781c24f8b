--- Symbols of the workspace, by their names: `@symbol:parse` lists what the language servers know,
--- and what is accepted names the symbol's lines.
---
--- Rules kept here:
--- - Servers are asked beside typing, and have `PATIENCE` ms for all of their answers. Another name
---   cancels what is still asked.
--- - Some tell only where the name stands: then the symbols of that file say how far the text goes.
---   Nothing is opened for it.
--- - Symbols outside the workspace are left out. Names are data, and one line each.
local host = require('eca.host')
local paths = require('eca.files.paths')
local sanitize = require('eca.ui.sanitize')
local sizes = require('eca.context.sizes')
local tokens = require('eca.context.tokens')

local M = {}

--- How a query for symbols begins.
M.PREFIX = 'symbol:'

--- Milliseconds for the answers of all servers.
M.PATIENCE = 2000

--- Symbols of one server that are looked at, and files whose symbols are asked for.
local MOST_SYMBOLS, MOST_FILES = 100, 10

---@class eca.FoundSymbol
---@field name string
---@field kind integer of the language server protocol
---@field path string
---@field client vim.lsp.Client
---@field range? lsp.Range
---@field uri string

---@class eca.SymbolSearch what is asked for one name
---@field open table<table, true> requests without an answer
---@field done fun() called with the last answer, or when the time is up

local running ---@type eca.SymbolSearch?

--- The name in a query for symbols.
---@param trigger eca.CompletionTrigger
---@param query string
---@return string?
function M.name_in(trigger, query)
  return trigger == '@' and vim.startswith(query, M.PREFIX) and query:sub(#M.PREFIX + 1) or nil
end

--- The language servers that can be asked for symbols. Neovim's language client is not loaded for
--- that: it wants a folder of its own, and there may be none.
---@return vim.lsp.Client[]
local function clients()
  local lsp = package.loaded['vim.lsp']
  local is_loaded = type(lsp) == 'table' -- it is something else if loading has failed
  return is_loaded and lsp.get_clients({ method = 'workspace/symbol' }) or {}
end

--- Can a language server be asked for symbols?
---@return boolean
function M.has_server()
  return #clients() > 0
end

--- Ask a server as part of a search.
---@param search eca.SymbolSearch
---@param client vim.lsp.Client
---@param method string
---@param params table
---@param take fun(result: any) not called for a fault
local function request(search, client, method, params, take)
  local asked = { client = client } ---@type table
  search.open[asked] = true
  local function answered(fault, result)
    if not search.open[asked] then
      return -- the time was up
    end
    search.open[asked] = nil
    if not fault and type(result) == 'table' then
      pcall(take, result) -- a server may answer anything
    end
    if not next(search.open) then
      search.done()
    end
  end
  local buf = next(client.attached_buffers) or 0
  local is_sent, id ---@type boolean, integer?
  if vim.fn.has('nvim-0.11') == 1 then
    is_sent, id = client:request(method, params, answered, buf)
  else
    is_sent, id = client.request(method, params, answered, buf) ---@diagnostic disable-line
  end
  asked.id = id
  if not is_sent then
    answered('closed')
  end
end

--- End a search: what has no answer is not waited for.
---@param search eca.SymbolSearch
local function give_up(search)
  local open = search.open
  search.open = {}
  for asked in pairs(open) do
    local cancel = asked.id and asked.client.cancel_request
    if asked.id and vim.fn.has('nvim-0.11') == 1 then
      pcall(cancel, asked.client, asked.id)
    elseif asked.id then
      pcall(cancel, asked.id)
    end
  end
end

---@param place { line: integer, character: integer }
---@param range lsp.Range
---@return boolean
local function is_within(place, range)
  local first, last = range.start, range['end']
  local is_after = place.line > first.line
    or place.line == first.line and place.character >= first.character
  return is_after
    and (place.line < last.line or place.line == last.line and place.character <= last.character)
end

--- The lines of a symbol among those of its file: the innermost one whose name stands there.
---@param symbols table[] as a server lists them
---@param place { line: integer, character: integer } where its name stands
---@return lsp.Range?
local function whole_range(symbols, place)
  for _, symbol in ipairs(symbols) do
    local inner = whole_range(symbol.children or {}, place)
    if inner then
      return inner
    end
    local range = symbol.range or symbol.location.range
    local name = symbol.selectionRange or { start = range.start, ['end'] = range.start }
    if is_within(place, name) or is_within(name.start, { start = place, ['end'] = place }) then
      return range
    end
  end
end

--- A symbol that a server has found, if it is in a file of the workspace.
---@param found table
---@param client vim.lsp.Client
---@param folders string[]
---@return eca.FoundSymbol?
local function symbol_of(found, client, folders)
  local uri = found.location.uri
  if type(uri) ~= 'string' or not vim.startswith(uri, 'file:///') then
    return nil
  end
  local path = paths.normalize(vim.uri_to_fname(uri))
  if not paths.inside(path, folders) then
    return nil
  end
  local within = type(found.containerName) == 'string' and found.containerName or ''
  local name = (within ~= '' and within .. ' · ' or '') .. tostring(found.name)
  local symbol = { name = name, kind = found.kind, path = path, client = client, uri = uri }
  symbol.range = type(found.location.range) == 'table' and found.location.range or nil
  return symbol
end

---@param symbol eca.FoundSymbol
---@return eca.CompletionItem
local function item_of(symbol)
  local range = symbol.range
  local context = { type = 'file', path = symbol.path } ---@type eca.Context
  if range then
    local last, first = range['end'], range.start.line + 1
    local is_before = last.character == 0 and last.line >= first -- the line after it
    context.first, context.last = first, math.max(first, last.line + (is_before and 0 or 1))
  end
  local text = tokens.write(context):sub(2)
  local kind = (vim.lsp.protocol.SymbolKind[symbol.kind] or 'symbol'):lower()
  local parts = { kind, sizes.words({ context }) } ---@type string[]
  table.insert(parts, 1, text)
  return {
    text = text,
    label = sanitize.line(symbol.name),
    kind = 'symbol',
    detail = sanitize.line(table.concat(parts, ' · ')),
    name = symbol.name,
  }
end

--- Ask how far symbols go of which only the place of the name is known.
---@param search eca.SymbolSearch
---@param symbols eca.FoundSymbol[]
local function widen(search, symbols)
  local by_file, count = {}, 0 ---@type table<string, eca.FoundSymbol[]>, integer
  for _, symbol in ipairs(symbols) do
    local range = symbol.range
    local is_short = range and range.start.line == range['end'].line
    if is_short and (by_file[symbol.uri] or count < MOST_FILES) then
      count = by_file[symbol.uri] and count or count + 1
      by_file[symbol.uri] = by_file[symbol.uri] or {}
      table.insert(by_file[symbol.uri], symbol)
    end
  end
  for uri, short in pairs(by_file) do
    local params = { textDocument = { uri = uri } }
    request(search, short[1].client, 'textDocument/documentSymbol', params, function(listed)
      for _, symbol in ipairs(short) do
        symbol.range = whole_range(listed, symbol.range.start) or symbol.range
      end
    end)
  end
end

--- Find the symbols with a name like this; `callback` is called unless another search begins first.
---@param name string
---@param callback fun(items: eca.CompletionItem[])
function M.find(name, callback)
  if running then
    give_up(running)
  end
  local found, folders = {}, host.folders() ---@type eca.FoundSymbol[], string[]
  local search = { open = {} } ---@type eca.SymbolSearch
  running = search
  local function finish()
    if running == search then
      running = nil
      callback(vim.tbl_map(item_of, found))
    end
  end
  search.done = finish
  search.open[search] = true -- until all are asked
  for _, client in ipairs(clients()) do
    request(search, client, 'workspace/symbol', { query = name }, function(result)
      local symbols = {} ---@type eca.FoundSymbol[]
      for _, each in ipairs(vim.list_slice(result, 1, MOST_SYMBOLS)) do
        local worked, symbol = pcall(symbol_of, each, client, folders)
        symbols[#symbols + 1] = worked and symbol or nil
      end
      vim.list_extend(found, symbols)
      widen(search, symbols)
    end)
  end
  search.open[search] = nil
  if not next(search.open) then
    return finish()
  end
  vim.defer_fn(function()
    give_up(search)
    finish()
  end, M.PATIENCE)
end

return M
