--- Context tokens in a prompt: `@src/io.py`, `@io.py:10-20`, `@lib/`, `@https://…`, `@cursor`,
--- `@buffer:3`, `@terminal:4`, `@chat:2`, `@mcp://…`; and `#src/io.py`, which names a path and
--- sends nothing.
---
--- Rules kept here:
--- - A token is plain text; one for a file, folder or buffer counts only if that exists.
--- - A space in a path is written `\ `. Punctuation after a token is not part of it.
--- - The two lines of a range may come in either order.
--- - A word of `NAMED` always has that meaning; `@./diff` is the file with that name.
--- - Names are looked up in the working folder; nothing is expanded, no command is run.
--- - A word that reads like a token and names nothing is missing: it is marked before the prompt is
---   sent, and named in a message then. A decorator in pasted code, or the name of a package, is no
---   such word.
local chats = require('eca.chat.buffers')
local paths = require('eca.files.paths')
local words = require('eca.context.words')

local M = {}

--- Most bytes of a name.
local LONGEST = 1000
--- Most punctuation marks after a token.
local MOST_MARKS = 4

---@alias eca.ContextType 'file'|'directory'|'web'|'cursor'|'text'|'buffer'|'resource'|'mention'
---| 'selection'|'diagnostics'|'quickfix'|'diff'|'terminal'|'chat'

---@class eca.Context
---@field type eca.ContextType
---@field path? string
---@field written? string absolute path before links are resolved, if that is another one
---@field first? integer first line, 1-based
---@field last? integer last line, 1-based and inclusive
---@field url? string
---@field uri? string
---@field start? integer[]
---@field label? string
---@field content? string
---@field buf? integer
---@field chat? string id of another chat
---@field number? integer its number
---@field count? integer lines of the buffer, if there is one
---@field folder? string whose repository a diff is of
---@field token? string how the prompt names it

---@class eca.ContextToken
---@field first integer 1-based byte where it begins
---@field last integer 1-based byte where it ends, inclusive
---@field context eca.Context

--- The tokens that are one word, and what they stand for.
---@type table<string, string>
M.NAMED = {
  cursor = 'the cursor in the last code window',
  selection = 'what was selected there, as text',
  diagnostics = 'the diagnostics of the workspace',
  quickfix = 'the quickfix list',
  diff = 'what git diff shows, and the names of new files',
  terminal = 'the end of what the terminal used last shows',
}

--- The absolute path that a name in a prompt means.
---@param name string
---@return string
function M.absolute(name)
  if vim.startswith(name, '~/') and vim.env.HOME then
    return vim.env.HOME .. name:sub(2)
  end
  return vim.startswith(name, '/') and name or vim.fs.joinpath(vim.fn.getcwd(), name)
end

--- The lines at the end of a word: `io.py:10-20`, `io.py:10`, or `io.py:10-` up to the last one.
---@param word string
---@return string? name, string? first, string? last
function M.ranged(word)
  local name, first, last = word:match('^(.-):(%d+)%-(%d*)$')
  if not name then
    name, first = word:match('^(.-):(%d+)$')
  end
  return name, first, last
end

--- The lines of a range, in order.
---@param first? string
---@param last? string
---@return integer? first, integer? last
local function in_order(first, last)
  local from = tonumber(first)
  if not from or last == '' then
    return from and math.max(from, 1), nil
  end
  local to = tonumber(last) or from
  return math.max(math.min(from, to), 1), math.max(from, to, 1)
end

---@param word string without the sign
---@return eca.Context?
local function path_context(word)
  word = word:gsub('\\ ', ' ')
  local name, first, last ---@type string?, string?, string?
  local stat = vim.uv.fs_stat(M.absolute(word)) -- a name may end like a range
  if not stat then
    name, first, last = M.ranged(word)
    stat = name and vim.uv.fs_stat(M.absolute(name))
  end
  if not stat then
    return nil
  end
  local written = M.absolute(name or word)
  local path = paths.normalize(written)
  local item = { type = 'file', path = path }
  item.written = vim.fs.normalize(written, { expand_env = false }) ~= path and written or nil
  if stat.type == 'directory' then
    item.type = 'directory'
  else
    item.first, item.last = in_order(first, last)
  end
  return item
end

--- Does a word read as the name of a buffer, a terminal or a chat?
---@param word string
---@return boolean
function M.reads_as_buffer(word)
  return word:find('^buffer:%d') ~= nil
    or word:find('^terminal:%d') ~= nil
    or word:find('^chat:%d') ~= nil
end

---@param buf integer
---@return boolean
local function is_terminal(buf)
  return vim.bo[buf].buftype == 'terminal'
end

---@param word string
---@return eca.Context?
local function buffer_context(word)
  local kind, buf, lines = word:match('^(%l+):(%d+)(.*)$')
  local number = M.reads_as_buffer(word) and tonumber(buf) or 0
  local is_there = number ~= 0 and vim.api.nvim_buf_is_valid(number)
  local name, first, last = M.ranged(lines or '')
  if not is_there or (kind == 'terminal' and not is_terminal(number)) then
    return nil
  elseif lines ~= '' and name ~= '' then
    return nil
  end
  local item = { type = 'buffer', buf = number }
  item.first, item.last = in_order(first, last)
  return item
end

---@param word string
---@return eca.Context?
local function chat_context(word)
  local number = word:match('^chat:(%d+)$')
  local chat = number and chats.numbered(tonumber(number) --[[@as integer]])
  return chat and { type = 'chat', chat = chat, number = tonumber(number) }
end

---@param word string
---@return eca.Context?
local function context_of(word)
  if M.NAMED[word] then
    return { type = word }
  end
  if word:find('^https?://[\33-\126]*[%w/]$') then
    return { type = 'web', url = word }
  elseif word:find('^%a[%w+.-]*://[\33-\126]*[%w/]$') then
    return { type = 'resource', uri = word }
  end
  return word ~= '' and (chat_context(word) or buffer_context(word) or path_context(word)) or nil
end

---@type table<'@'|'#', fun(word: string): eca.Context?>
local READ = {
  ['@'] = context_of,
  ['#'] = function(word)
    local item = not word:find('^%d+$') and path_context(word) or nil
    return item and { type = 'mention', path = item.path }
  end,
}

--- The longest prefix of a word that names something, else the word without the marks at its end.
---@param word string
---@param sign '@'|'#'
---@return eca.Context?, string
function M.read_word(word, sign)
  if #word > LONGEST then
    return nil, word
  end
  local context = READ[sign](word)
  for _ = 1, MOST_MARKS do
    local ends_with_mark = word:find('^[%.,;:!%?%)]', #word) and word:sub(1, -2):find('[^%.]')
    if context or not ends_with_mark then
      break
    end
    word = word:sub(1, -2)
    context = READ[sign](word)
  end
  return context, word
end

--- The context that a name means, with its blanks escaped or not.
---@param name string with or without the @
---@return eca.Context?
function M.named(name)
  return context_of((name:gsub('^@', '')))
end

--- Find the tokens of a text, or of a line outside of code blocks.
---@param text string
---@param each? fun(text: string, sign: string, take: fun(at: integer, word: string)) default: of a
---text, see `words`
---@return eca.ContextToken[] those with `@`, then those with `#`
function M.find(text, each)
  local found = {} ---@type eca.ContextToken[]
  for _, sign in ipairs({ '@', '#' }) do
    (each or words.of_text)(text, sign, function(at, word)
      local context, used = M.read_word(word, sign)
      if context then
        context.token = sign .. used
        found[#found + 1] = { first = at, last = at + #used, context = context }
      end
    end)
  end
  return found
end

--- Is a suffix that of files? At first those for which Neovim has no file type, or would have to
--- read the file; then all that were looked up.
---@type table<string, boolean>
local suffixes = {}
local OF_FILES = 'cfg conf csv gif h htm html jpeg jpg log m pdf pl png sh sql svg tex txt webp xml'
for suffix in OF_FILES:gmatch('%a+') do
  suffixes[suffix] = true
end

--- Does a word that names nothing read as the name of a file or folder? `@pytest.fixture` and
--- `@types/node` do not: the first has no suffix of a file, the second is in no folder that exists.
---@param name string
---@return boolean
local function reads_as_path(name)
  if not name:find('^[%w%._/~-]*%w[%w%._/~-]*$') then
    return false
  end
  local folder = name:match('^(.+)/[^/]*$')
  if folder then
    local stat = vim.uv.fs_stat(M.absolute(folder))
    return (stat and stat.type == 'directory')
      or name:find('/$') ~= nil
      or reads_as_path(vim.fs.basename(name))
  end
  local suffix = name:match('%w%.(%w+)$')
  if suffix and suffixes[suffix] == nil then
    local known, filetype = pcall(vim.filetype.match, { filename = 'a.' .. suffix })
    suffixes[suffix] = known and filetype ~= nil
  end
  return suffix ~= nil and suffixes[suffix]
end

---@class eca.MissingWord
---@field first integer 1-based byte where it begins
---@field last integer 1-based byte where it ends, inclusive
---@field text string with its sign

--- Find the words of a text, or of a line outside of code blocks, that read like a file, folder or
--- buffer that does not exist. What is in doubt is plain text.
---@param text string
---@param each? fun(text: string, sign: string, take: fun(at: integer, word: string)) default: of a
---text, see `words`
---@param signs? ('@'|'#')[] default: only `@`, as `#` sends nothing
---@return eca.MissingWord[]
function M.find_missing(text, each, signs)
  local found = {} ---@type eca.MissingWord[]
  for _, sign in ipairs(signs or { '@' }) do
    (each or words.of_text)(text, sign, function(at, word)
      local context, name = M.read_word(word, sign)
      local path = M.ranged(name) or name
      local is_buffer = sign == '@' and (M.reads_as_buffer(name) or name:find('^symbol:%S') ~= nil)
      if not context and (is_buffer or reads_as_path(path)) then
        found[#found + 1] = { first = at, last = at + #name, text = sign .. name }
      end
    end)
  end
  return found
end

--- A path as a token has it, without the sign. A name that means something else gets `./`.
---@param typed string as users type it, without escapes
---@return string
function M.escaped(typed)
  local name = typed:gsub(' ', '\\ ')
  local is_other = M.NAMED[name] or M.reads_as_buffer(name) or name:find('^%a[%w+.-]*://')
  return is_other and './' .. name or name
end

--- The lines of a context, as a token has them.
---@param item eca.Context
---@return string
local function written_lines(item)
  if item.first and item.first == item.last then
    return (':%d'):format(item.first)
  elseif item.first or item.last then
    return (':%d-%s'):format(item.first or 1, item.last or '')
  end
  return ''
end

--- The field with which a context is written, if not as a path.
---@type table<eca.ContextType, string>
local FIELDS = { web = 'url', resource = 'uri', text = 'label' }

--- Write a context as its token. Raises an error for one that has none.
---@param item eca.Context
---@param whole? boolean with its whole path, which does not depend on the working folder
---@return string
function M.write(item, whole)
  if M.NAMED[item.type] then
    return '@' .. item.type
  elseif FIELDS[item.type] then
    return '@' .. item[FIELDS[item.type]]
  elseif item.type == 'chat' then
    return ('@chat:%d'):format(item.number)
  elseif item.type == 'buffer' then
    local is_there = vim.api.nvim_buf_is_valid(item.buf) -- raises an error unless it is a number
    local kind = is_there and is_terminal(item.buf) and 'terminal' or 'buffer'
    return ('@%s:%d%s'):format(kind, item.buf, written_lines(item))
  end
  local typed = whole and vim.fn.fnamemodify(item.path, ':~') or paths.as_typed(item.path)
  local name = (item.type == 'mention' and '#' or '@') .. M.escaped(typed)
  if item.type == 'directory' then
    return (name:gsub('/?$', '/', 1))
  end
  return name .. written_lines(item)
end

--- Write contexts as tokens.
---@param items eca.Context[]
---@return string names separated by blanks
function M.write_all(items)
  return table.concat(vim.tbl_map(M.write, items), ' ')
end

--- Write the tokens of a line with their whole paths.
---@param line string with `@` as their only sign
---@return string
function M.whole(line)
  for token in vim.iter(M.find(line, words.of_line)):rev() do
    if token.context.path then
      local name = M.write(token.context, true)
      line = line:sub(1, token.first - 1) .. name .. line:sub(token.last + 1)
    end
  end
  return line
end

return M
