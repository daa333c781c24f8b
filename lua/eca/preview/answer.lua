--- The answer to a question about lines: its text, a transcript, in a float at the lines.
---
--- Rules kept here:
--- - The float takes no focus. It is shown while the lines are on the screen and there is room;
---   else a mark at them says that there is an answer. Closing its window loses nothing.
--- - Text is only appended, so what the user reads stays where it is. A further question scrolls to
---   itself, unless the user is in the float.
local answer_place = require('eca.preview.answer_place')
local footer = require('eca.ui.footer')
local highlights = require('eca.ui.highlights')
local keys = require('eca.ui.keys')
local others = require('eca.ui.others')
local region = require('eca.preview.region')
local return_window = require('eca.ui.return_window')
local transcript = require('eca.transcript')
local window_options = require('eca.window.options')

local M = {}

---@class eca.Answer
---@field id string
---@field buf integer
---@field block integer the id of its last block
---@field is_empty boolean nothing of the last answer has come
---@field doing string what the agent does beside writing
---@field win? integer the float, while it is shown
---@field config? table of the float
---@field lines? eca.ScreenArea that it is about
---@field origin? eca.Origin where the user was before they entered it
---@field is_hidden? boolean the user has closed the float

local shown = {} ---@type table<string, eca.Answer> those with a float, by id

--- The keys that the border lists: the action, and the words.
---@type table<eca.PreviewState, [string, string][]>
local OFFERED = {
  streaming = { { 'PreviewStop', 'stop' }, { 'PreviewEnter', 'go in' } },
  ready = {
    { 'PreviewEnter', 'go in' },
    { 'PreviewAsk', 'ask on' },
    { 'PreviewChat', 'chat' },
    { 'PreviewCopy', 'copy' },
    { 'PreviewPut', 'put' },
    { 'PreviewRejectAll', 'close' },
  },
  failed = {
    { 'PreviewRetry', 'again' },
    { 'PreviewInstruct', 'edit' },
    { 'PreviewChat', 'chat' },
    { 'PreviewRejectAll', 'close' },
  },
}

-- Its text ----------------------------------------------------------------------------------------

---@param answer eca.Answer
---@param change fun(buf: integer)
local function edit(answer, change)
  vim.bo[answer.buf].modifiable = true
  local worked, fault = pcall(change, answer.buf)
  vim.bo[answer.buf].modifiable = false
  if not worked then
    error(fault, 0) -- the text is locked: the same op is drawn again
  end
end

--- Append a block.
---@param answer eca.Answer
---@param kind 'user'|'assistant'|'system'
---@param text string
local function open(answer, kind, text)
  local opening = { chat = answer.id, block = answer.block + 1, kind = kind, text = text }
  opening.closed = kind ~= 'assistant'
  edit(answer, function(buf)
    transcript.open(buf, { opening })
  end)
  answer.block = answer.block + 1
end

--- Called when a window with the answer is entered, as by a click: note where the user was.
---@param answer eca.Answer
local function entered(answer)
  local from = vim.fn.win_getid(vim.fn.winnr('#'))
  local is_known = vim.api.nvim_win_is_valid(from) and from ~= answer.win
  if is_known and vim.api.nvim_win_get_config(from).relative == '' then
    local cursor = vim.api.nvim_win_get_cursor(from)
    answer.origin = { win = from, inserting = return_window.is_inserting(), cursor = cursor }
  end
end

--- An answer without a text yet.
---@param id string of its preview
---@return eca.Answer
function M.new(id)
  local buf = others.create_buf()
  vim.bo[buf].modeline, vim.bo[buf].bufhidden = false, 'hide'
  transcript.attach(buf, id)
  others.set('FileType', buf, 'filetype', 'eca-answer')
  others.announce(buf, 'answer') -- maps the keys
  local answer = { id = id, buf = buf, block = 0, doing = '', is_empty = true } ---@type eca.Answer
  vim.api.nvim_create_autocmd('WinEnter', {
    buffer = buf,
    callback = function()
      entered(answer)
    end,
  })
  return answer
end

---@param answer eca.Answer
---@param row integer
local function scroll_to(answer, row)
  local win = answer.win
  if win and win ~= vim.api.nvim_get_current_win() then
    vim.api.nvim_win_call(win, function()
      vim.fn.winrestview({ topline = row + 1, lnum = row + 1, col = 0 })
    end)
  end
end

--- Add a question, below what there is.
---@param answer eca.Answer
---@param question string
function M.asked(answer, question)
  open(answer, 'user', question)
  local row = transcript.range(answer.buf, answer.block)
  open(answer, 'assistant', '')
  answer.is_empty = true
  scroll_to(answer, assert(row))
end

--- Add what the host has received of an answer (op `place_answer`).
---@param answer eca.Answer
---@param op { text?: string, state: eca.PreviewState, doing?: string, fault?: string }
function M.received(answer, op)
  if transcript.is_lost(answer.buf) then -- the user has deleted the buffer
    return
  end
  local of_text = { block = answer.block, text = op.text or '' }
  if of_text.text ~= '' then
    edit(answer, function(buf)
      transcript.append(buf, of_text)
    end)
    answer.is_empty = false
  end
  answer.doing = op.doing or ''
  if op.state ~= 'streaming' and not answer.is_empty then
    transcript.close(answer.buf, of_text)
  elseif op.state ~= 'streaming' then
    edit(answer, function(buf)
      transcript.remove(buf, of_text)
    end)
  end
  if (op.fault or '') ~= '' then
    open(answer, 'system', op.fault)
  end
end

--- The complete code blocks of an answer, in order.
---@param answer eca.Answer
---@return integer[] rows of their first lines
function M.code_rows(answer)
  local buf = answer.buf
  local last = vim.api.nvim_buf_line_count(buf) - 1
  local written = require('eca.transcript.places').written_between(buf, 0, last)
  local rows = {} ---@type integer[]
  for _, place in ipairs(require('eca.markdown.fences').of_blocks(buf, written, 0, last)) do
    if place.fence.closed and not place.fence.bare then
      rows[#rows + 1] = place.first
    end
  end
  return rows
end

-- Its float ---------------------------------------------------------------------------------------

---@param answer eca.Answer
local function close_window(answer)
  local win = answer.win
  answer.win, answer.config, shown[answer.id] = nil, nil, nil
  if win and vim.api.nvim_win_is_valid(win) then
    if win == vim.api.nvim_get_current_win() and answer.origin then
      return_window.go_back(answer.origin)
    end
    others.call('WinClosed', others.close, win)
  end
end

--- Remove an answer with its text.
---@param answer eca.Answer
function M.close(answer)
  close_window(answer)
  if vim.api.nvim_buf_is_valid(answer.buf) then
    others.call('BufWipeout', vim.api.nvim_buf_delete, answer.buf, { force = true })
  end
end

--- The window of this tab page in which the lines are: the current one before others.
---@param preview eca.Preview
---@return integer?
local function code_window(preview)
  local here, answer = vim.api.nvim_get_current_win(), assert(preview.answer)
  local origin = here == answer.win and answer.origin and answer.origin.win
  local wins = vim.api.nvim_tabpage_list_wins(0)
  for _, win in ipairs({ here, origin or here, unpack(wins) }) do
    local is_here = vim.api.nvim_win_is_valid(win) and vim.list_contains(wins, win)
    if is_here and vim.api.nvim_win_get_buf(win) == preview.region.buf then
      return win
    end
  end
end

--- What the border says: which lines, and how the answer stands.
---@param preview eca.Preview
---@param first integer 1-based
---@param last integer
---@return string
local function title_of(preview, first, last)
  local lines = first == last and ('line %d'):format(first) or ('lines %d-%d'):format(first, last)
  if preview.state == 'failed' then
    return (' answer · %s · failed '):format(lines)
  elseif preview.state == 'ready' then
    return (' answer · %s '):format(lines)
  end
  local doing = assert(preview.answer).doing
  local is_empty = assert(preview.answer).is_empty
  doing = doing ~= '' and doing or is_empty and 'waits for the answer' or 'writes'
  local seconds = math.floor((vim.uv.now() - preview.began) / 1000)
  return (' answer · %s · %s · %d s '):format(lines, doing, seconds)
end

--- The keys in the border, and how many rows are below what is on the screen.
---@param preview eca.Preview
---@param width integer
---@return eca.Segment[]
local function border_of(preview, width)
  local answer, listed = assert(preview.answer), {} ---@type eca.Answer, eca.FooterKey[]
  for _, offer in ipairs(OFFERED[preview.state]) do
    local key = keys.of(preview.region.buf, 'n', offer[1])
    listed[#listed + 1] = key and { key, offer[2], main = true } or nil
  end
  local below = 0
  if answer.win then
    local info = vim.fn.getwininfo(answer.win)[1]
    below = vim.api.nvim_buf_line_count(answer.buf) - info.botline
  end
  local more = below > 0 and (' ↓ %d more '):format(below) or ' '
  local segments = footer.of(listed, width - vim.api.nvim_strwidth(more))
  segments[#segments + 1] = { more, 'EcaNew' }
  return (#listed > 0 or below > 0) and segments or {}
end

---@param answer eca.Answer
---@param config table
local function open_window(answer, config)
  highlights.setup()
  local first = vim.tbl_extend('force', config, { relative = 'editor', border = 'rounded' })
  first.zindex, first.style = 40, 'minimal'
  answer.win = others.open_win(answer.buf, false, first)
  window_options.set(answer.win, 'chat')
  vim.wo[answer.win][0].fillchars = 'eob: ,lastline:…'
  shown[answer.id] = answer
end

---@param answer eca.Answer
---@return eca.ScreenArea[] that the floats of the others cover, and their lines
local function taken(answer)
  local areas = {} ---@type eca.ScreenArea[]
  for _, other in pairs(shown) do
    local config = other ~= answer and other.config
    if config then
      areas[#areas + 1] = other.lines
      local bottom, right = config.row + config.height + 2, config.col + config.width + 2
      areas[#areas + 1] = { top = config.row, bottom = bottom, left = config.col, right = right }
    end
  end
  return areas
end

--- Scroll back as long as there are free rows below the text, unless the user is in the float.
---@param win integer
---@param height integer
local function fill(win, height)
  local top = vim.fn.getwininfo(win)[1].topline
  local function rows_from(line)
    return vim.api.nvim_win_text_height(win, { start_row = line - 1 }).all
  end
  local wanted = top
  while wanted > 1 and rows_from(wanted - 1) <= height do
    wanted = wanted - 1
  end
  if wanted < top and win ~= vim.api.nvim_get_current_win() then
    vim.api.nvim_win_call(win, function()
      vim.fn.winrestview({ topline = wanted })
    end)
  end
end

--- Show the float at the lines, or change it where something has changed.
---@param preview eca.Preview
---@param win integer
---@param forced? boolean
---@return boolean shown there is room
local function show(preview, win, forced)
  local answer = assert(preview.answer)
  local first, last = region.near(preview.region)
  local want = { win = win, first = first + 1, last = last, rows = 1, taken = taken(answer) }
  want.own, want.forced = answer.win, forced or answer.win == vim.api.nvim_get_current_win()
  local config = answer_place.choose(want)
  if not config then
    return false
  end
  local is_new = not answer.win
  if is_new then
    open_window(answer, config)
  elseif vim.api.nvim_win_get_config(answer.win).relative == '' then -- by <C-w>H and the like
    answer.config = nil
    return true
  end
  vim.api.nvim_win_set_width(answer.win, config.width) -- its rows are counted at this width
  want.rows = vim.api.nvim_win_text_height(answer.win, {}).all
  config, answer.lines = answer_place.choose(want)
  config = assert(config)
  config.title, config.title_pos = title_of(preview, first + 1, last), 'left'
  config.footer, config.footer_pos = border_of(preview, config.width), 'left'
  config.relative = 'editor'
  if #config.footer == 0 then
    config.footer, config.footer_pos = '', nil
  end
  if not vim.deep_equal(config, answer.config) then
    vim.api.nvim_win_set_config(answer.win, config)
    answer.config = config
  end
  fill(answer.win, config.height)
  return true
end

--- Say at the lines that there is an answer, as its float is not shown.
---@param preview eca.Preview
local function mark(preview)
  local buf, key = preview.region.buf, keys.of(preview.region.buf, 'n', 'PreviewEnter')
  local _, last = region.near(preview.region)
  local text = key and ('  answer: %s shows it'):format(key) or '  answer'
  local options = { virt_text = { { text, 'EcaMuted' } }, strict = false }
  vim.api.nvim_buf_set_extmark(buf, preview.namespace, last - 1, 0, options)
end

--- Draw an answer: its float, or the mark.
---@param preview eca.Preview
---@param forced? boolean show it even if there is no good place
function M.draw(preview, forced)
  local answer, buf = assert(preview.answer), preview.region.buf
  if answer.win and not vim.api.nvim_win_is_valid(answer.win) then
    answer.is_hidden = true -- the user has closed it
    close_window(answer)
  end
  if not vim.api.nvim_buf_is_loaded(buf) or vim.fn.getcmdwintype() ~= '' then
    return close_window(answer)
  end
  vim.api.nvim_buf_clear_namespace(buf, preview.namespace, 0, -1)
  local tab = vim.api.nvim_get_current_tabpage()
  if answer.win and vim.api.nvim_win_get_tabpage(answer.win) ~= tab then
    close_window(answer)
  end
  local win = code_window(preview)
  if answer.is_hidden or not win or not show(preview, win, forced) then
    close_window(answer)
    mark(preview)
  end
end

--- Go into the float, or from it back to where the user was; if that is gone, to the lines.
---@param preview eca.Preview
---@return boolean worked
function M.enter(preview)
  local answer = assert(preview.answer)
  if answer.win and answer.win == vim.api.nvim_get_current_win() then
    local origin, lines = answer.origin, code_window(preview)
    if origin and vim.api.nvim_win_is_valid(origin.win) then
      return_window.go_back(origin)
    elseif lines then
      others.go_to(lines)
    end
    return true
  end
  answer.is_hidden = nil
  M.draw(preview, true)
  if answer.win then
    local origin = return_window.here()
    others.go_to(answer.win)
    answer.origin = origin
  end
  return answer.win ~= nil
end

return M
