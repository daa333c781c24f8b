--- The winbars of the transcript and of the input.
---
--- Rules kept here:
--- - A winbar is plain text that is set when something changes, never an expression. Foreign text
---   is escaped, so that it cannot become one.
--- - If it does not fit, minor parts go first. Then parts are cut, the lightest first, each down to
---   its least cells. Only then others are dropped, again the lightest first. A part with
---   `keep` is never dropped: it is cut below its least cells before a heavier part is dropped, or
---   one that can be cut.
local chat_tabs = require('eca.window.chat_tabs')
local chats = require('eca.chat.buffers')
local contexts = require('eca.context')
local display_width = require('eca.ui.display_width')
local follow_end = require('eca.window.follow_end')
local mirror = require('eca.state.mirror')
local others = require('eca.ui.others')
local sizes = require('eca.context.sizes')
local window_options = require('eca.window.options')

local M = {}

---@class eca.WinbarPart
---@field text string
---@field group string
---@field weight integer the higher, the later it is dropped
---@field least? integer cells it may be cut to; nil: it is never cut
---@field keep? integer cells it is cut to before a heavier part is dropped; nil: it is dropped
---@field separator? string between it and the part before, default: a dot
---@field end_first? boolean its beginning is cut, not its end
---@field right? boolean it and those after it stand at the right end
---@field click? integer number of the chat that a click opens

local START = '%#EcaWinbar# '
local SEPARATOR = ' · '
--- Parts of this weight and less are dropped before any other part is cut.
local MINOR = 10
local LEAST_TITLE, SHORTEST_TITLE, LEAST_MODEL = 16, 6, 10
--- Windows with fewer columns show the number of new rows alone.
local FEW_COLUMNS = 50
local LEAST_WORDS = 20
local EDITING = 'edit · empty it to cancel'

---@param ms integer
---@return string
local function duration(ms)
  local seconds = math.floor(ms / 1000)
  if seconds < 60 then
    return seconds .. 's'
  elseif seconds < 3600 then
    return ('%dm%02ds'):format(math.floor(seconds / 60), seconds % 60)
  end
  return ('%dh%02dm'):format(math.floor(seconds / 3600), math.floor(seconds / 60) % 60)
end

local STATES = {
  running = { '●', 'EcaRunning' },
  stopping = { '◌', 'EcaWaiting' },
  waiting = { '?', 'EcaWaiting' },
  login = { '?', 'EcaWaiting' },
  retrying = { '↻', 'EcaWaiting' },
  idle = { '○', 'EcaWinbarDim' },
}

local SERVERS = {
  starting = { '◌', 'EcaRunning' },
  building = { '◌', 'EcaRunning' },
  failed = { '✗', 'EcaFailed' },
  asleep = { '○', 'EcaWinbarDim' },
}

---@param status eca.Status
---@return eca.WinbarPart
local function state_part(status)
  local process = status.asleep and 'asleep' or status.server
  local server, state = SERVERS[process], status.retrying and 'retrying' or status.state
  local sign = server or STATES[state]
  local words = { sign[1], server and process or state } ---@type string[]
  words[3] = not server and status.pending > 1 and ('(%d)'):format(status.pending) or nil
  local time = status.elapsed
  if server then
    time = status.starting
  end
  words[#words + 1] = time and duration(time)
  return { text = table.concat(words, ' '), group = sign[2], weight = 90 }
end

---@param parts eca.WinbarPart[]
---@param text? string|false
---@param group string
---@param weight integer
---@param least? integer cells it may be cut to
local function add(parts, text, group, weight, least)
  if text and text ~= '' then
    parts[#parts + 1] = { text = text, group = group, weight = weight, least = least }
  end
end

--- The parts of the transcript's winbar, in order.
---@param status eca.Status
---@param new integer unseen rows below the window
---@param columns integer of the window
---@return eca.WinbarPart[]
local function transcript_parts(status, new, columns)
  local title = { text = status.title or mirror.UNTITLED, group = 'EcaWinbarTitle', weight = 60 }
  title.least, title.keep = LEAST_TITLE, SHORTEST_TITLE
  local parts = { title } ---@type eca.WinbarPart[]
  local agent = status.agent
  if agent and status.variant then
    agent = agent .. '/' .. status.variant
  end
  local unasked = status.unasked or {}
  local is_loud = vim.list_contains(unasked, status.agent)
  add(parts, status.trust and 'TRUST' or nil, 'EcaTrust', 100)
  local unreviewed = status.trust and status.unreviewed or 0
  add(parts, unreviewed > 0 and ('%d unreviewed'):format(unreviewed), 'EcaReviewSign', 70)
  for _, name in ipairs(unasked) do
    add(parts, name ~= status.agent and name or nil, 'EcaTrust', 100)
  end
  add(parts, status.model, 'EcaWinbarDim', 56, LEAST_MODEL)
  parts[#parts].end_first = parts[#parts].text == status.model -- the provider stands first
  add(parts, agent, is_loud and 'EcaTrust' or 'EcaWinbarDim', is_loud and 100 or 55)
  local has_others = #mirror.servers_in_use() > 1
  add(parts, has_others and status.server_name or nil, 'EcaWinbarDim', 55)
  parts[#parts + 1] = state_part(status)
  local limit = status.limit and '/' .. sizes.short(status.limit) or ''
  add(parts, status.tokens and sizes.short(status.tokens) .. limit, 'EcaWinbarDim', 50)
  local cost = status.cost and '$' .. status.cost:gsub('^%$', '')
  if cost and status.currency then
    cost = ('%s %s'):format(status.cost, status.currency)
  end
  add(parts, cost, 'EcaWinbarDim', MINOR)
  local words = columns < FEW_COLUMNS and '↓ %d' or '↓ %d new'
  add(parts, new > 0 and words:format(new) or nil, 'EcaNew', 80)
  for place = 2, #parts do
    parts[place].right = true
  end
  return parts
end

--- A part and its measures.
---@class eca.MeasuredPart
---@field part eca.WinbarPart
---@field place integer
---@field cells integer
---@field width integer cells, with its separator
---@field slack integer cells by which it can be cut
---@field reserve integer cells by which it can be cut for heavier parts

--- Sort lighter parts first; of equal ones the last first.
---@param a eca.MeasuredPart
---@param b eca.MeasuredPart
---@return boolean
local function is_lighter(a, b)
  if a.part.weight ~= b.part.weight then
    return a.part.weight < b.part.weight
  end
  return a.place > b.place
end

--- Make parts fit; their order stays.
---@param parts eca.WinbarPart[] their texts may be cut
---@param width integer cells
---@return eca.WinbarPart[]
local function fit(parts, width)
  local measured, stay = {}, {} ---@type eca.MeasuredPart[], eca.MeasuredPart[]
  local over, slack, reserve = 1 - width, 0, 0 -- in cells, of all parts that stay
  for place, part in ipairs(parts) do
    local it = { part = part, place = place, cells = vim.api.nvim_strwidth(part.text) }
    local before = place > 1 and vim.api.nvim_strwidth(part.separator or SEPARATOR) or 0
    it.width = it.cells + before
    it.slack = part.least and math.max(0, it.cells - part.least) or 0
    it.reserve = part.keep and math.max(0, it.cells - it.slack - part.keep) or 0
    measured[place] = it
    over, slack, reserve = over + it.width, slack + it.slack, reserve + it.reserve
  end
  if over <= 0 then
    return parts
  end
  table.sort(measured, is_lighter)
  for _, it in ipairs(measured) do
    local minor = it.part.weight <= MINOR
    local room = slack + (it.part.least and reserve or 0)
    if over > 0 and not it.part.keep and (minor or over > room) then
      over, slack = over - it.width, slack - it.slack
    else
      stay[#stay + 1] = it
      if over > slack then
        it.slack, slack = it.slack + it.reserve, slack + it.reserve
      end
    end
  end
  if #stay <= 1 then
    local part = (stay[1] or measured[#measured]).part
    part.text = display_width.cut(part.text, math.max(1, width - 1))
    return { part }
  end
  for _, it in ipairs(stay) do
    local less = math.min(over, it.slack)
    if less > 0 then
      local shorten = it.part.end_first and display_width.pad_path or display_width.cut
      it.part.text = shorten(it.part.text, it.cells - less)
      over = over - less
    end
  end
  table.sort(stay, function(a, b)
    return a.place < b.place
  end)
  return vim.tbl_map(function(it)
    return it.part
  end, stay)
end

--- The text of a winbar with these parts.
---@param parts eca.WinbarPart[]
---@return string
local function render(parts)
  local pieces = { START } ---@type string[]
  for index, part in ipairs(parts) do
    local text = part.text:gsub('%%', '%%%%') -- safe lines of the host, or names of the user's
    if part.click then
      text = ("%%%d@v:lua.require'eca.window.chat_tabs'.click@%s%%X"):format(part.click, text)
    end
    if part.right and not (parts[index - 1] or {}).right then
      pieces[#pieces + 1] = '%=' .. (index > 1 and (' '):rep(#SEPARATOR - 1) or '')
    elseif index > 1 then
      pieces[#pieces + 1] = '%#EcaWinbarDim#' .. (part.separator or SEPARATOR)
    end
    pieces[#pieces + 1] = ('%%#%s#%s'):format(part.group, text)
  end
  return table.concat(pieces) .. '%#EcaWinbar#'
end

--- How many prompts are queued: those that steer the running turn, then those for its end.
---@param prompts [string, string][]
---@return string
local function queue_text(prompts)
  local counts = { steer = 0, queue = 0, note = 0 }
  for _, prompt in ipairs(prompts) do
    counts[prompt[1]] = counts[prompt[1]] + 1
  end
  local words = {} ---@type string[]
  words[#words + 1] = counts.steer > 0 and ('%d steering'):format(counts.steer) or nil
  words[#words + 1] = counts.queue > 0 and ('%d queued'):format(counts.queue) or nil
  words[#words + 1] = counts.note > 0 and ('%d to tell'):format(counts.note) or nil
  return table.concat(words, SEPARATOR)
end

---@param plan eca.Plan
---@param status eca.Status
---@return string
local function plan_text(plan, status)
  local sign = plan.done < plan.total and '▢' or '✓'
  local works = status.state ~= 'idle' and (plan.doing or '') ~= ''
  local doing = works and ' · doing: ' .. plan.doing or ''
  return ('%s tasks %d/%d%s'):format(sign, plan.done, plan.total, doing)
end

--- What is said if the contexts of a draft fill more than half of the model's window, which is
--- known.
---@param chat eca.Chat
---@return string?
local function too_much(chat)
  if not vim.api.nvim_buf_is_loaded(chat.input) then
    return nil
  end
  local draft = table.concat(vim.api.nvim_buf_get_lines(chat.input, 0, -1, false), '\n')
  local size, is_asked = contexts.excess(chat.id, draft)
  return size and ('%s: %s'):format(size, is_asked and 'press again to send' or 'over half')
end

--- The parts of the input's winbar, in order.
---@param chat eca.Chat
---@return eca.WinbarPart[]
local function input_parts(chat)
  local parts = {} ---@type eca.WinbarPart[]
  local status, told = mirror.status(chat.id), mirror.chat(chat.id)
  local server = mirror.server(status.server_name)
  add(parts, chat.question and '? ' .. chat.question.title, 'EcaWaiting', 95, LEAST_WORDS)
  add(parts, chat.edit and EDITING, 'EcaWaiting', 94, LEAST_WORDS)
  for _, source in ipairs(contexts.sources(chat.id)) do
    local item = source.item
    local group = contexts.is_missing(item) and 'EcaContextMissing' or 'EcaContext'
    add(parts, contexts.label(item, chat.id), group, item.type == 'cursor' and MINOR or 60)
  end
  add(parts, status.limit and too_much(chat), 'EcaWarning', 93, LEAST_WORDS)
  add(parts, #told.queue > 0 and queue_text(told.queue), 'EcaQueued', 80)
  local unsent = told.unsent_comments
  local noun = unsent == 1 and 'comment' or 'comments'
  local waiting = ('%d %s, :Eca changes send'):format(unsent, noun)
  add(parts, unsent > 0 and waiting, 'EcaWaiting', 85, LEAST_WORDS)
  add(parts, told.plan and plan_text(told.plan, status), 'EcaPlan', 50, LEAST_WORDS)
  local more = #server.work > 1 and (' +%d'):format(#server.work - 1) or ''
  add(parts, server.work[1] and server.work[1] .. more, 'EcaWinbarDim', 40)
  local activity = status.state ~= 'idle' and status.activity or nil
  if status.silent then
    activity = ('no word for %s, :Eca stop gives up'):format(duration(status.silent))
  end
  local is_urgent = status.retrying or status.silent
  local group = is_urgent and 'EcaWaiting' or 'EcaWinbarDim'
  add(parts, activity, group, is_urgent and 90 or 30, LEAST_WORDS)
  add(parts, vim.fs.basename(server.label), 'EcaWinbarDim', MINOR)
  if #parts == 0 then
    add(parts, 'eca', 'EcaWinbarDim', 10)
  end
  return parts
end

--- Draw the winbar of a window, and the title in its status line, if it shows a transcript or an
--- input.
---@param win integer
function M.refresh_window(win)
  local chat, kind = chats.of_buffer(vim.api.nvim_win_get_buf(win))
  if not chat then
    return
  end
  local columns = vim.api.nvim_win_get_width(win)
  local parts ---@type eca.WinbarPart[]
  if kind == 'chat' then
    parts = transcript_parts(mirror.status(chat.id), follow_end.new_rows(win), columns)
    if chats.are_several() then -- the tabs of the others stand after the title
      parts[1].text = ('%d %s'):format(chat.number, parts[1].text)
      for index, part in ipairs(chat_tabs.parts(chat.id, columns)) do
        table.insert(parts, index + 1, part)
      end
    end
  else
    parts = input_parts(chat)
  end
  others.set_winbar(win, render(fit(parts, columns - 1)))
  if vim.o.laststatus == 3 then
    window_options.set_statusline(win)
  end
end

--- Has something else replaced the winbar of a chat's window?
---@param win integer
---@return boolean
function M.is_foreign(win)
  local ours = chats.of_buffer(vim.api.nvim_win_get_buf(win)) ~= nil
  return ours and not vim.startswith(vim.wo[win].winbar, START)
end

--- Draw the winbars of all windows of a chat, or of all chats.
---@param id? string
---@param times? boolean only times have changed: the input shows one only if the agent is silent
function M.refresh(id, times)
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    local chat, kind = chats.of_buffer(vim.api.nvim_win_get_buf(win))
    local is_meant = chat and (not id or chat.id == id)
    if is_meant and (not times or kind == 'chat' or mirror.status(id).silent) then
      M.refresh_window(win)
    end
  end
end

sizes.listen(function()
  M.refresh()
end)

-- A window in which the user opens a chat's buffer brings its old winbar along.
vim.api.nvim_create_autocmd('BufWinEnter', {
  group = vim.api.nvim_create_augroup('eca.window.winbar', {}),
  callback = function(event)
    if chats.of_buffer(event.buf) then
      M.refresh_window(vim.api.nvim_get_current_win())
    end
  end,
})

return M
