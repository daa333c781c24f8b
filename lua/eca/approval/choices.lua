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
local edits = require('eca.diff.edits')
local keys = require('eca.approval.keys')
local mirror = require('eca.state.mirror')
local panel = require('eca.ui.panel')
local paths = require('eca.files.paths')

local M = {}

--- Cells of a choice before the text of the agent.
local CHOICE_CELLS = 100

--- The origin of the call: the tool unless the title names it, the subagent, the chat if there are
--- several.
---@param item eca.Pending
---@return string
local function origin_of(item)
  local parts, number = {}, chat_tabs.number(item.chat) ---@type string[], integer?
  parts[1] = item.tool and not vim.startswith(item.title, item.tool) and item.tool or nil
  parts[#parts + 1] = item.agent and 'subagent ' .. item.agent or nil
  parts[#parts + 1] = number and ('chat %d %s'):format(number, mirror.title(item.chat)) or nil
  return table.concat(parts, ' · ')
end

--- The origin, and what `A` always allows unless the names of the choices say it. Both share a row
--- only if the origin is a plain name, which cannot be mistaken for anything else.
---@param item eca.Pending
---@return string[]
local function head(item)
  local origin, always = origin_of(item), decide.only(item, 'allow_always')
  local remembers = not item.listed and always and always.remembers
  local allows = remembers and 'A always allows in all chats: ' .. table.concat(remembers, ', ')
  if allows and origin:find('^[%w_./-]+$') then
    return { origin .. ' · ' .. allows }
  end
  local lines = { origin ~= '' and origin or nil } ---@type string[]
  lines[#lines + 1] = allows or nil
  return lines
end

--- What the host warns of, and files with unsaved changes, which the call does not know.
---@param item eca.Pending
---@return string[]
local function warnings_of(item)
  local lines = vim.list_extend({}, item.warnings or {})
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
---@return eca.PanelText
---@return integer own_rows number of our own rows, the first ones
---@return integer last_rows number of the rows with long names of choices, the last ones
---@return integer shift row of the first of the request's lines (0-based)
local function text_of(item)
  local rows, long = {}, {} ---@type eca.Segment[][], eca.Segment[][]
  for _, line in ipairs(head(item)) do
    rows[#rows + 1] = { { line, 'EcaMuted' } }
  end
  for _, warning in ipairs(warnings_of(item)) do
    rows[#rows + 1] = { { '! ' .. warning, 'EcaWarning' } }
  end
  if item.plan then
    rows[#rows + 1] = { { 'd opens the plan: change it there, and send it back', 'EcaMuted' } }
  end
  if item.taken_back then
    rows[#rows + 1] = { { item.taken_back, 'EcaWarning' } }
  end
  -- A name says how far the answer goes. None can be mistaken for a row of our own, because each
  -- begins with a number and a word of ours.
  for number, choice in ipairs(item.listed and item.choices or {}) do
    local remembers = choice.remembers and ': ' .. table.concat(choice.remembers, ', ') or ''
    local row = ('%d %s%s'):format(number, decide.listed(choice), remembers)
    local shown = display_width.cut(row, CHOICE_CELLS)
    long[#long + 1] = shown ~= row and { { row, 'EcaMuted' } } or nil
    rows[#rows + 1] = { { shown, 'EcaMuted' } }
  end
  local own_rows = #rows
  if not item.titled and (item.lines or {})[1] ~= item.title then
    rows[#rows + 1] = { { item.title, 'EcaToolName' } }
  end
  local shift = #rows
  for _, line in ipairs(item.lines or {}) do
    -- The blank of an empty context line in a diff would be marked as a trailing one.
    rows[#rows + 1] = { { item.language == 'diff' and line == ' ' and '' or line, '' } }
  end
  local text = panel.text(vim.list_extend(rows, long))
  for _, mark in ipairs(item.marks or {}) do
    text.marks[#text.marks + 1] = { mark[1] + shift, mark[2], mark[3], mark[4] }
  end
  return text, own_rows, #long, shift
end

--- What the float shows for a tool call.
---@param item eca.Pending
---@param all? eca.Choice allows all pending calls of the chat
---@return eca.PromptContent without key, chat, title, gone and read
function M.content(item, all)
  local text, own_rows, last_rows, shift = text_of(item)
  local choices = keys.of(item, item, all)
  if #(item.hunks or {}) > 1 then
    choices[#choices + 1] = {
      key = '-',
      mouse = '<2-LeftMouse>',
      text = 'hunk',
      about = 'leave out the hunk under the cursor, or take it again',
      run = function(row)
        edits.toggle(item, row and row - shift)
      end,
    }
  end
  choices[#choices + 1] = item.paths
    and {
      key = 'd',
      text = 'diff',
      about = 'show the whole diff in a tab page',
      run = function()
        diff.ask('diff', { chat = item.chat, block = item.block })
      end,
    }
  choices[#choices + 1] = item.plan
    and {
      key = 'd',
      text = 'edit',
      about = 'open the plan to change it, and send it back',
      run = function()
        require('eca.approval.plan').open(item.chat) -- late: rarely needed
      end,
    }
  return {
    lines = text.lines,
    marks = text.marks,
    quoted = { own_rows, #text.lines - last_rows - 1 },
    choices = choices,
    seen = function(float)
      return block.seen(item, float, last_rows > 0)
    end,
    cut = item.cut,
    rest = (item.paths or item.plan) and 'd shows all' or 'scroll to read',
  }
end

return M
