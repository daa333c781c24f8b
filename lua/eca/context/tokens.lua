--- Context tokens in a prompt: `@src/io.py`, `@src/io.py:10-20`, `@lib/`, `@https://…`, `@cursor`.
---
--- Rules kept here:
--- - A token is plain text after a blank; it counts only if what it names exists.
--- - A space in a path is written `\ `. Punctuation after a token is not part of it.
--- - The two lines of a range may come in either order.
--- - Names are looked up in the working folder; nothing is expanded, no command is run.
local paths = require('eca.files.paths')

local M = {}

--- Most bytes of a name.
local LONGEST = 1000

---@class eca.Context
---@field type 'file'|'directory'|'web'|'cursor'|'text'|'buffer'
---@field path? string
---@field first? integer first line, 1-based
---@field last? integer last line, 1-based and inclusive
---@field url? string
---@field start? integer[]
---@field label? string
---@field content? string
---@field buf? integer
---@field count? integer lines of the buffer, if there is one
---@field token? string how the prompt names it

---@class eca.ContextToken
---@field first integer 1-based byte where it begins
---@field last integer 1-based byte where it ends, inclusive
---@field context eca.Context

---@param name string
---@return string
local function absolute(name)
  if vim.startswith(name, '~/') and vim.env.HOME then
    return vim.env.HOME .. name:sub(2)
  end
  return vim.startswith(name, '/') and name or vim.fs.joinpath(vim.fn.getcwd(), name)
end

---@param word string without the @, blanks unescaped
---@return eca.Context?
local function path_context(word)
  local name, first, last = word:match('^(.-):(%d+)%-(%d+)$')
  if not name then
    name, first = word:match('^(.-):(%d+)$')
  end
  local path = absolute(name or word)
  local stat = vim.uv.fs_stat(path)
  if not stat then
    return nil
  end
  if stat.type == 'directory' then
    return { type = 'directory', path = paths.normalize(path) }
  end
  local from = tonumber(first)
  local to = tonumber(last) or from
  if from and to then
    from, to = math.max(math.min(from, to), 1), math.max(from, to, 1)
  end
  return { type = 'file', path = paths.normalize(path), first = from, last = to }
end

---@param word string
---@return eca.Context?
local function context_of(word)
  if word == 'cursor' then
    return { type = 'cursor' }
  end
  if word:find('^https?://[\33-\126]*[%w/]$') then
    return { type = 'web', url = word }
  end
  return word ~= '' and path_context((word:gsub('\\ ', ' '))) or nil
end

---@param word string
---@return boolean
local function ends_with_a_mark(word)
  return word:find('^[%.,;:!%?%)]', #word) ~= nil and word:sub(1, -2):find('[^%.]') ~= nil
end

--- The longest prefix of a word that names something.
---@param word string
---@return eca.Context?, string
local function read_word(word)
  local context = #word <= LONGEST and context_of(word) or nil
  while not context and #word <= LONGEST and ends_with_a_mark(word) do
    word = word:sub(1, -2)
    context = context_of(word)
  end
  return context, word
end

--- The context that a name means, with its blanks escaped or not.
---@param name string with or without the @
---@return eca.Context?
function M.named(name)
  return context_of((name:gsub('^@', '')))
end

--- Call a function for each word after an @, with its 1-based byte.
---@param text string
---@param take fun(at: integer, word: string)
local function each_word(text, take)
  -- An escaped blank is part of the name: it is hidden while the text is split into words.
  local hidden = text:gsub('\\ ', '\\\1')
  for at, word in hidden:gmatch('()@([^%s]+)') do
    if at == 1 or hidden:find('^[%s%(]', at - 1) then
      take(at, (word:gsub('\1', ' ')))
    end
  end
end

--- Find the tokens of a text.
---@param text string
---@return eca.ContextToken[]
function M.find(text)
  local found = {} ---@type eca.ContextToken[]
  each_word(text, function(at, word)
    local context, used = read_word(word)
    if context then
      context.token = '@' .. used
      found[#found + 1] = { first = at, last = at + #used, context = context }
    end
  end)
  return found
end

--- The words of a text that look like the name of a file or folder that does not exist.
---@param text string
---@return string[] with their @
function M.missing(text)
  local found = {} ---@type string[]
  each_word(text, function(_, word)
    local context, name = read_word(word)
    local reads_as_path = name:find('^[%w%._/~-]+$') and name:find('[^/%.][%./]%a')
    if not context and (reads_as_path or name:find('^[%w%._/~-]+/$')) then
      found[#found + 1] = '@' .. name
    end
  end)
  return found
end

--- Write a context as its token.
---@param item eca.Context
---@return string
function M.write(item)
  if item.type == 'cursor' then
    return '@cursor'
  elseif item.type == 'web' then
    return '@' .. item.url
  elseif item.type == 'buffer' then
    local name = vim.api.nvim_buf_is_valid(item.buf) and vim.api.nvim_buf_get_name(item.buf) or ''
    return '@' .. (name ~= '' and vim.fs.basename(name) or ('buffer-' .. item.buf))
  elseif item.type == 'text' then
    return '@' .. item.label
  end
  local name = '@' .. paths.as_typed(item.path):gsub(' ', '\\ ')
  if item.type == 'directory' then
    return (name:gsub('/?$', '/', 1))
  end
  if item.first and item.first == item.last then
    return ('%s:%d'):format(name, item.first)
  elseif item.first or item.last then
    return ('%s:%d-%s'):format(name, item.first or 1, item.last or '')
  end
  return name
end

return M
