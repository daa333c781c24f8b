--- What the float shows for a tool call that needs approval: its text and its keys. The text is its
--- origin, warnings, and what will happen.
---
--- Rules kept here:
--- - Our own lines come first, so that no line of the agent can be mistaken for one: the origin,
---   what `A` always allows, and warnings. Then everything that will happen.
--- - A choice with a long name, such as one that repeats the command, does not push that out of
---   sight: it is cut, and its whole name comes last.
local block = require('eca.approval.block')
local chat_tabs = require('eca.window.chat_tabs')
local decide = require('eca.input.decide')
local diff = require('eca.diff')
local display_width = require('eca.ui.display_width')
local mirror = require('eca.state.mirror')
local paths = require('eca.files.paths')

local M = {}

--- Cells of a choice before the text of the agent.
local CHOICE_CELLS = 100

--- A list of lines with marks, as it grows.
---@class eca.ApprovalBody
---@field lines string[]
---@field marks eca.Mark[]

---@param body eca.ApprovalBody
---@param line string
---@param group string
local function add(body, line, group)
  body.marks[#body.marks + 1] = { #body.lines, 0, #line, group }
  body.lines[#body.lines + 1] = line
end

--- The chat's number and title, if there are several chats.
---@param id string
---@return string?
local function chat_name(id)
  local number = chat_tabs.number(id)
  local title = mirror.status(id).title
  return number and ('chat %d %s'):format(number, title or 'New chat') or nil
end

--- The origin of the call: the tool unless the title names it, the subagent, the chat.
---@param item eca.Pending
---@return string
local function origin_of(item)
  local parts = {} ---@type string[]
  parts[1] = item.tool and not vim.startswith(item.title, item.tool) and item.tool or nil
  parts[#parts + 1] = item.agent and 'subagent ' .. item.agent or nil
  parts[#parts + 1] = chat_name(item.chat)
  return table.concat(parts, ' · ')
end

--- The choices by number, with their whole names: a name says how far the answer goes. No name can
--- be mistaken for a row of our own, because each begins with a number and a word of ours.
---@param item eca.Pending
---@return string[]
local function numbered_rows(item)
  local rows = {} ---@type string[]
  for number, choice in ipairs(item.listed and item.choices or {}) do
    local row = ('%d %s'):format(number, decide.listed(choice))
    local remembers = choice.remembers and ': ' .. table.concat(choice.remembers, ', ') or ''
    rows[number] = row .. remembers
  end
  return rows
end

--- What `A` always allows, unless the names of the choices say it.
---@param item eca.Pending
---@return string?
local function allowed_always(item)
  local choice = decide.only(item, 'allow_always')
  if item.listed or not choice or not choice.remembers then
    return nil
  end
  return 'A always allows in all chats: ' .. table.concat(choice.remembers, ', ')
end

--- The origin, and what `A` always allows. Both share a row only if the origin is a plain name,
--- which cannot be mistaken for anything else.
---@param item eca.Pending
---@return string[]
local function head(item)
  local origin = origin_of(item)
  local allows = allowed_always(item)
  if allows and origin:find('^[%w_./-]+$') then
    return { origin .. ' · ' .. allows }
  end
  local lines = { origin ~= '' and origin or nil } ---@type string[]
  lines[#lines + 1] = allows
  return lines
end

--- Warnings about files in which the user has unsaved changes, which the call does not know.
---@param item eca.Pending
---@return string[]
local function unsaved(item)
  local lines = {} ---@type string[]
  for _, path in ipairs(item.paths or {}) do
    local buf = paths.buffer_of(path)
    if buf and vim.bo[buf].modified then
      lines[#lines + 1] = ('%s has unsaved changes in Neovim'):format(paths.short(path))
    end
  end
  return lines
end

--- The lines of the float, and their colours. The title is left out where the lines have it, as
--- those of a command do.
---@param item eca.Pending
---@return string[] lines, eca.Mark[] marks
---@return integer own_rows number of our own rows, the first ones
---@return integer last_rows number of the rows with long names of choices, the last ones
local function text_of(item)
  local body = { lines = {}, marks = {} } ---@type eca.ApprovalBody
  for _, line in ipairs(head(item)) do
    add(body, line, 'EcaMuted')
  end
  local warnings = vim.list_extend({}, item.warnings or {})
  vim.list_extend(warnings, unsaved(item))
  for _, warning in ipairs(warnings) do
    add(body, '! ' .. warning, 'EcaWarning')
  end
  local long = {} ---@type string[]
  for _, row in ipairs(numbered_rows(item)) do
    local shown = display_width.cut(row, CHOICE_CELLS)
    long[#long + 1] = shown ~= row and row or nil
    add(body, shown, 'EcaMuted')
  end
  local own_rows = #body.lines
  if not item.titled and (item.lines or {})[1] ~= item.title then
    add(body, item.title, 'EcaToolName')
  end
  local shift = #body.lines
  for _, line in ipairs(item.lines or {}) do
    -- The blank of an empty context line in a diff would be marked as a trailing one.
    body.lines[#body.lines + 1] = item.language == 'diff' and line == ' ' and '' or line
  end
  for _, mark in ipairs(item.marks or {}) do
    body.marks[#body.marks + 1] = { mark[1] + shift, mark[2], mark[3], mark[4] }
  end
  for _, row in ipairs(long) do
    add(body, row, 'EcaMuted')
  end
  return body.lines, body.marks, own_rows, #long
end

local NUMBERED = 9

--- A key for each choice whose name must be read, by its number.
---@param request eca.Request
---@param now eca.Pending
---@return eca.Choice[]
local function numbered(request, now)
  local keys = {} ---@type eca.Choice[]
  for number, choice in ipairs(now.listed and now.choices or {}) do
    if number <= NUMBERED then
      keys[number] = {
        key = tostring(number),
        text = decide.WORDS[choice.kind],
        about = choice.name,
        main = choice.kind == 'allow_always' and 'later' or true,
        run = function()
          decide.choose(request, choice)
        end,
      }
    end
  end
  return keys
end

--- A key that stands for the only choice of its kind. If the choices have numbers the footer leaves
--- it out, and it says so where several are of its kind.
---@param request eca.Request
---@param now eca.Pending
---@param kind 'allow_once'|'allow_always'
---@param key eca.Choice without `run`
---@return eca.Choice?
local function of_kind(request, now, kind, key)
  if not now.listed and not decide.only(request, kind) then
    return nil
  end
  key.text = not now.listed and key.text or nil
  key.run = function()
    decide.accept(request, kind == 'allow_always')
  end
  return key
end

--- The keys that allow a tool call, or choose any answer by its number; here and in the diff tab.
---@param request eca.Request
---@param now eca.Pending the same as it is pending now
---@return eca.Choice[]
function M.allowing(request, now)
  local keys = numbered(request, now)
  local once = { key = 'a', text = 'allow', about = 'allow', main = true }
  keys[#keys + 1] = of_kind(request, now, 'allow_once', once --[[@as eca.Choice]])
  local always = { key = 'A', text = 'always', about = 'always allow it in this session' }
  keys[#keys + 1] = of_kind(request, now, 'allow_always', always --[[@as eca.Choice]])
  return keys
end

--- The keys that reject a tool call; here and in the diff tab.
---@param request eca.Request
---@param now eca.Pending the same as it is pending now
---@return eca.Choice[]
function M.rejecting(request, now)
  return {
    {
      key = 'r',
      text = not now.listed and 'reject' or nil,
      about = 'reject',
      main = true,
      run = function()
        decide.reject(request)
      end,
    },
    {
      key = 'R',
      text = '+ reason',
      about = 'reject and say what to do instead',
      run = function()
        decide.reject_with_reason(request)
      end,
    },
  }
end

---@param item eca.Pending
---@return eca.Choice
local function comparing(item)
  return {
    key = 'd',
    text = 'diff',
    about = 'show the whole diff in a tab page',
    run = function()
      diff.ask('diff', { chat = item.chat, block = item.block })
    end,
  }
end

--- What the float shows for a tool call.
---@param item eca.Pending
---@param all? eca.Choice allows all pending calls of the chat
---@return eca.PromptContent without key, chat, title, gone and read
function M.content(item, all)
  local lines, marks, own_rows, last_rows = text_of(item)
  local choices = M.allowing(item, item)
  choices[#choices + 1] = all
  vim.list_extend(choices, M.rejecting(item, item))
  choices[#choices + 1] = item.paths and comparing(item) or nil
  return {
    lines = lines,
    marks = marks,
    quoted = { own_rows, #lines - last_rows - 1 },
    choices = choices,
    seen = function(float)
      return (last_rows > 0 and block.seen_beside or block.seen)(item, float)
    end,
    cut = item.cut,
    rest = item.paths and 'd shows all' or 'scroll to read',
  }
end

return M
