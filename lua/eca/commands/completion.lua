--- Completion on the command line: names and arguments of `:Eca`, and contexts in `:EcaChat`.
---
--- Rules kept here:
--- - What begins with the typed text is offered, else what contains it.
--- - Names of files are listed without expanding them: a `*` or a backtick in one is only a letter.
local M = {}

--- Most entries of a folder that are offered.
local MOST_ENTRIES = 1000

--- The files and folders whose name begins like this, with blanks written as in tokens. Hidden ones
--- only if the beginning has the dot.
---@param lead string blanks escaped or not
---@return string[]
local function paths_beginning(lead)
  local typed, rest = lead:gsub('\\ ', ' '):match('^(.-)([^/]*)$')
  local folder = require('eca.context.tokens').absolute(typed)
  local found = {} ---@type string[]
  for entry, kind in vim.fs.dir(folder) do
    local is_wanted = vim.startswith(entry, rest)
      and (vim.startswith(rest, '.') or not vim.startswith(entry, '.'))
    if is_wanted and not entry:find('%c') then
      local is_folder = kind == 'directory'
        or (kind == 'link' and vim.fn.isdirectory(vim.fs.joinpath(folder, entry)) == 1)
      local name = typed .. entry .. (is_folder and '/' or '')
      found[#found + 1] = name:gsub(' ', '\\ ')
    end
    if #found >= MOST_ENTRIES then
      break
    end
  end
  return found
end

--- What `:Eca folder` takes: what to do, and a folder.
---@param lead string
---@param _ boolean
---@param before string what is typed before it
---@return string[]
function M.folders(lead, _, before)
  if before == '' then
    return { 'add', 'remove' }
  elseif vim.startswith(before, 'remove') then
    return require('eca.host.workspace').added()
  end
  return vim.tbl_filter(function(name)
    return vim.endswith(name, '/')
  end, paths_beginning(lead))
end

--- The contexts whose token begins like this, without the `@`.
---@param lead string
---@return string[]
function M.contexts(lead)
  local editor_items = require('eca.completion.editor_items')
  editor_items.forget()
  local found = paths_beginning(lead)
  for _, item in ipairs(editor_items.list('@')) do
    local is_new = not vim.list_contains(found, item.text) and not item.text:find('%c')
    found[#found + 1] = is_new and item.text or nil
  end
  return found
end

--- What `:Eca add` takes, or with `!` what it removes.
---@param lead string
---@param removes boolean
---@return string[]
function M.to_add(lead, removes)
  if removes then
    return require('eca.context').labels(require('eca').current())
  end
  return M.contexts(lead)
end

--- The chats, each with its number and title.
---@return string[]
function M.chats()
  local buffers, mirror = require('eca.chat.buffers'), require('eca.state.mirror')
  return vim.tbl_map(function(id)
    local title = require('eca.ui.sanitize').line(mirror.title(id))
    return ('%d %s'):format(assert(buffers.get(id)).number, title)
  end, buffers.ids())
end

--- The choices that begin with a text, else those that contain it, sorted.
---@param choices string[]
---@param lead string
---@return string[]
function M.matching(choices, lead)
  ---@param place number column where the match may begin at most
  ---@return string[]
  local function having(place)
    return vim.tbl_filter(function(item)
      local at = item:lower():find(lead:lower(), 1, true)
      return at ~= nil and at <= place
    end, choices)
  end
  local beginning = having(1)
  local found = #beginning > 0 and beginning or having(math.huge)
  table.sort(found)
  return found
end

--- Completion of `:EcaChat`: contexts after `@`, paths after `#`.
---@param lead string
---@return string[]
function M.chat(lead)
  local sign, name = lead:match('^([@#])(.*)$')
  if not sign then
    return {}
  end
  local found = sign == '@' and M.contexts(name) or paths_beginning(name)
  return vim.tbl_map(function(text)
    return sign .. text
  end, M.matching(found, name))
end

return M
