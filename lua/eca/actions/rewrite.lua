--- Actions on rewrites: which lines are meant, asking what to do with them, and repeating it.
---
--- Rules kept here:
--- - Whole lines are rewritten, also of a selection by characters.
--- - `.` repeats the operator on other lines with the same instruction, and asks nothing.
local choose = require('eca.ui.choose')
local host = require('eca.host')
local notify = require('eca.ui.notify')
local paths = require('eca.files.paths')
local preview = require('eca.preview')
local return_window = require('eca.ui.return_window')
local sanitize = require('eca.ui.sanitize')
local scan = require('eca.text.scan')
local templates = require('eca.state.templates')

local M = {}

local MOST_RECENT = 20

local recent = {} ---@type string[] instructions, the newest first
local repeated ---@type string? the operator's last instruction
local is_new = false -- the operator was pressed, rather than repeated

---@class eca.MeantLines
---@field buf integer
---@field first integer 1-based
---@field last integer
---@field name string what they are

--- Add the instructions that the host has saved below those of this Neovim.
---@param saved? string[]
local function add_saved(saved)
  for _, text in ipairs(type(saved) == 'table' and saved or {}) do
    if #recent < MOST_RECENT and not vim.list_contains(recent, text) then
      recent[#recent + 1] = text
    end
  end
end

---@param text string
local function remember(text)
  recent = vim.tbl_filter(function(other)
    return other ~= text
  end, recent)
  table.insert(recent, 1, text)
  recent[MOST_RECENT + 1] = nil
  host.ask('instructions', { new = text }, add_saved)
end

--- Types of nodes that are whole functions in the grammars of most languages.
---@param kind string
---@return boolean
local function is_function(kind)
  local named = kind:find('function', 1, true) or kind:find('method', 1, true)
  local whole = kind:find('definition', 1, true)
    or kind:find('declaration', 1, true)
    or kind:find('item', 1, true)
  return named ~= nil and whole ~= nil or kind == 'function' or kind == 'method'
end

--- The function around a place, as its grammar says.
---@param buf integer
---@param cursor integer[] (1,0)-based
---@return eca.MeantLines?
local function function_at(buf, cursor)
  local worked, parser = pcall(vim.treesitter.get_parser, buf)
  if not worked or not parser then
    return nil
  end
  parser:parse()
  local node = vim.treesitter.get_node({ bufnr = buf, pos = { cursor[1] - 1, cursor[2] } })
  while node and not is_function(node:type()) do
    node = node:parent()
  end
  if not node then
    return nil
  end
  local first, _, last, column = node:range()
  local names = node:field('name')
  local name = names[1] and vim.treesitter.get_node_text(names[1], buf)
  name = name and sanitize.line(name) or 'this function'
  return { buf = buf, first = first + 1, last = column == 0 and last or last + 1, name = name }
end

--- The lines without a blank one among them that a line is one of.
---@param buf integer
---@param line integer 1-based
---@return eca.MeantLines
local function paragraph_at(buf, line)
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  local first, last = line, line
  if lines[first]:find('%S') then
    while first > 1 and lines[first - 1]:find('%S') do
      first = first - 1
    end
    while last < #lines and lines[last + 1]:find('%S') do
      last = last + 1
    end
  end
  return { buf = buf, first = first, last = last, name = 'this paragraph' }
end

--- The lines that are meant by a place: the function around it, else the paragraph.
---@param buf integer
---@param cursor integer[] (1,0)-based
---@return eca.MeantLines
function M.meant_at(buf, cursor)
  return function_at(buf, cursor) or paragraph_at(buf, cursor[1])
end

---@param meant eca.MeantLines
---@param instruction string
---@return string? id
local function start(meant, instruction)
  remember(instruction)
  local range = { meant.first, meant.last }
  return preview.rewrite({
    buf = meant.buf,
    range = range,
    prompt = instruction,
    asked = return_window.asked(),
  })
end

---@param meant eca.MeantLines
---@param take fun(instruction: string)
local function choose_from_list(meant, take)
  local items = {} ---@type { text?: string, template?: eca.Template }[]
  for _, text in ipairs(recent) do
    items[#items + 1] = { text = text }
  end
  for _, template in ipairs(templates.all()) do
    items[#items + 1] = { template = template }
  end
  choose.one('Rewrite with', items, function(item)
    local template = item.template
    return item.text and sanitize.line(item.text)
      or sanitize.line(('/%s  %s'):format(template.name, template.description))
  end, function(item)
    if item.text then
      return take(item.text)
    end
    local of_lines = require('eca.context.here').of_lines(meant.buf, meant.first, meant.last)
    require('eca.actions.templates').fill_in(item.template.name, of_lines, take)
  end)
end

--- Let the user choose an instruction: one of the last ones, or a template.
---@param meant eca.MeantLines
---@param take fun(instruction: string)
local function pick(meant, take)
  local asked = return_window.asked()
  host.ask('instructions', {}, add_saved) -- is answered first
  host.ask('list_templates', {}, function()
    if return_window.may_focus(asked, 'the list') then
      choose_from_list(meant, take)
    end
  end)
end

---@param meant eca.MeantLines
---@return string
local function words(meant)
  local one = meant.first == meant.last
  local lines = one and ('line %d'):format(meant.first)
    or ('lines %d-%d'):format(meant.first, meant.last)
  return meant.name == '' and lines or ('%s (%s)'):format(meant.name, lines)
end

--- Ask what to do with some lines; an empty answer opens the list.
---@param meant eca.MeantLines
---@param take fun(instruction: string)
local function ask(meant, take)
  local prompt = ('Rewrite %s (empty: choose): '):format(words(meant))
  choose.line({ prompt = prompt }, function(answer)
    local text = answer and scan.trim(answer)
    if text == '' then
      pick(meant, take)
    elseif text then
      take(text)
    end
  end)
end

--- Can the current buffer be rewritten? A message says why not.
---@return boolean
local function is_code()
  local filetype = vim.bo.filetype
  if filetype:find('^eca%-') or not vim.bo.modifiable then
    notify.warn('not rewritten: go to a buffer that can be changed')
    return false
  end
  return true
end

---@param buf integer
---@param first integer
---@param last integer
---@return eca.MeantLines
local function named_lines(buf, first, last)
  local path = paths.of_buffer(buf)
  return { buf = buf, first = first, last = last, name = path and paths.short(path) or '' }
end

--- `:[range]Eca rewrite[!] [instruction]`; a `!` lets the user choose it from a list.
---@param instruction? string
---@param picks boolean
---@param call eca.Call
function M.run(instruction, picks, call)
  if not is_code() then
    return
  end
  local buf = vim.api.nvim_get_current_buf()
  local meant = call.range > 0 and named_lines(buf, call.line1, call.line2)
    or M.meant_at(buf, vim.api.nvim_win_get_cursor(0))
  local function take(text)
    start(meant, text)
  end
  if instruction then
    take(instruction)
  elseif picks then
    pick(meant, take)
  else
    ask(meant, take)
  end
end

--- What completes the argument of `:Eca rewrite`.
---@return string[]
function M.recent()
  host.ask_if_running('instructions', {}, add_saved)
  return recent
end

--- The operator `<Plug>(EcaRewrite)`: the lines of the motion that follows, or of the selection.
function M.operator()
  if not is_code() then
    return
  end
  is_new = true
  vim.api.nvim_create_autocmd('ModeChanged', {
    group = vim.api.nvim_create_augroup('eca.rewrite.operator', {}), -- a selection needs no motion
    pattern = 'no*:*',
    once = true,
    callback = vim.schedule_wrap(function()
      is_new = false -- the motion was cancelled, or has been done
    end),
  })
  vim.go.operatorfunc = "v:lua.require'eca.actions.rewrite'.on_lines"
  local count = vim.v.count > 0 and vim.v.count or ''
  vim.api.nvim_feedkeys(count .. 'g@', 'ni', false) -- before what is typed ahead
end

--- Called by Neovim with the marks of the lines, by the operator or its repetition.
function M.on_lines()
  local buf = vim.api.nvim_get_current_buf()
  local meant = named_lines(buf, vim.fn.line("'["), vim.fn.line("']"))
  local asks = is_new or not repeated
  is_new = false
  if not asks then
    start(meant, assert(repeated))
    return
  end
  ask(meant, function(instruction) -- at once: the next keys are for this
    repeated = instruction
    start(meant, instruction)
  end)
end

return M
