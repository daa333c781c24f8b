--- Words of a prompt that read like a file, folder or buffer that does not exist. They are marked
--- before the prompt is sent, and named in a message then.
---
--- Rules kept here: a decorator in pasted code, or the name of a package, is none of them. What is
--- in doubt is plain text.
local tokens = require('eca.context.tokens')
local words = require('eca.context.words')

local M = {}

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
    local stat = vim.uv.fs_stat(tokens.absolute(folder))
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

--- Find what is missing in a text, or in a line outside of code blocks.
---@param text string
---@param each? fun(text: string, sign: string, take: fun(at: integer, word: string)) default: of a
---text, see `words`
---@param signs? ('@'|'#')[] default: only `@`, as `#` sends nothing
---@return eca.MissingWord[]
function M.find(text, each, signs)
  local found = {} ---@type eca.MissingWord[]
  for _, sign in ipairs(signs or { '@' }) do
    (each or words.of_text)(text, sign, function(at, word)
      local context, name = tokens.read_word(word, sign)
      local path = tokens.ranged(name) or name
      local is_buffer = sign == '@' and tokens.reads_as_buffer(name)
      if not context and (is_buffer or reads_as_path(path)) then
        found[#found + 1] = { first = at, last = at + #name, text = sign .. name }
      end
    end)
  end
  return found
end

return M
