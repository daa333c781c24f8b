--- What the user takes of a change that waits: some hunks, or their own text in its diff tab.
---
--- Rules kept here:
--- - The host decides what stands there. It gets every change of the proposed text, and answers
---   with the digest of the request that shows it; until then no key allows that.
--- - A buffer with edits is kept, with its undo history, until its request is answered.
local agent_files = require('eca.editor.agent_files')
local decide = require('eca.input.decide')
local held_intents = require('eca.host.held_intents')
local host = require('eca.host')
local notify = require('eca.ui.notify')

local M = {}

---@class eca.KeptProposal
---@field id string of its request
---@field buf integer
---@field path string
---@field place? integer of the file in its call: several may be changes of one file

local kept = {} ---@type eca.KeptProposal[]
local standing = {} ---@type table<string, string> versions of requests of which a part is taken

local namespace = vim.api.nvim_create_namespace('eca.left_out')

--- The version of a request as the agent has made it: what the user takes of it is in its digest,
--- and makes no other request of it.
---@param item eca.Request
---@return string
function M.version(item)
  return item.id .. ' ' .. item.digest:match('^[^-]*')
end

--- Cut a file's text into lines, as Neovim would when it reads the file.
---@param text string
---@return string[] lines, 'dos'|'unix' fileformat, boolean endofline
function M.decode(text)
  local lines = vim.split(text, '\n', { plain = true })
  local ends = lines[#lines] == ''
  if ends then
    lines[#lines] = nil
  end
  local dos = #lines > 0
  for index, line in ipairs(lines) do
    dos = dos and (line:sub(-1) == '\r' or (index == #lines and not ends))
  end
  if not dos or not text:find('\r\n', 1, true) then
    return lines, 'unix', ends
  end
  local bare = vim.tbl_map(function(line)
    return (line:gsub('\r$', ''))
  end, lines)
  return bare, 'dos', ends
end

--- The text of a buffer, as Neovim would write it.
---@param buf integer
---@return string
local function text_of(buf)
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  local mark = vim.bo[buf].fileformat == 'dos' and '\r\n' or '\n'
  local is_empty = #lines == 1 and lines[1] == ''
  return table.concat(lines, mark) .. (vim.bo[buf].endofline and not is_empty and mark or '')
end

--- Give a buffer another text. Lines that stay keep their place.
---@param buf integer
---@param text string
local function put(buf, text)
  local before = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  local lines, format, ends = M.decode(text)
  lines = #lines > 0 and lines or { '' }
  local head, tail = 0, 0
  local least = math.min(#before, #lines)
  while head < least and before[head + 1] == lines[head + 1] do
    head = head + 1
  end
  while tail < least - head and before[#before - tail] == lines[#lines - tail] do
    tail = tail + 1
  end
  local fresh = vim.list_slice(lines, head + 1, #lines - tail)
  if head + tail < math.max(#before, #lines) then
    vim.api.nvim_buf_set_lines(buf, head, #before - tail, false, fresh)
  end
  vim.bo[buf].fileformat, vim.bo[buf].endofline = format, ends or text == ''
end

--- Mark where hunks are left out. Both sides are equal there, but not folded.
---@param wins [integer, integer] that show them; the proposed text is in the second one
---@param left_out [integer, integer][] lines of it, and numbers of hunks
function M.mark(wins, left_out)
  local buf = vim.api.nvim_win_get_buf(wins[2])
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  local last = vim.api.nvim_buf_line_count(buf)
  local views = vim.tbl_map(function(win)
    return vim.api.nvim_win_call(win, vim.fn.winsaveview)
  end, wins)
  vim.cmd.diffupdate()
  for _, each in ipairs(left_out) do
    local lnum = math.min(math.max(each[1], 1), last)
    local text = { { ('  hunk %d left out (-)'):format(each[2]), 'EcaMuted' } }
    vim.api.nvim_buf_set_extmark(buf, namespace, lnum - 1, 0, { virt_text = text })
    vim.api.nvim_win_call(wins[2], function()
      vim.api.nvim_win_set_cursor(wins[2], { lnum, 0 })
      pcall(vim.cmd.normal, { 'zv', bang = true }) -- in the other window, too
    end)
  end
  for place, win in ipairs(#left_out > 0 and wins or {}) do
    vim.api.nvim_win_call(win, function()
      vim.fn.winrestview(views[place])
    end)
  end
end

--- The user's texts of files that a change may be made to.
---@param paths string[]
---@return table<string, string>
local function unsaved(paths)
  local texts = vim.empty_dict() ---@type table<string, string>
  for _, each in ipairs(agent_files.unsaved(paths)) do
    texts[each.path] = each.text
  end
  return texts
end

---@param item eca.Pending
---@param name string of an intent
---@param fields table<string, any>
local function send(item, name, fields)
  local named = { chat = item.chat, block = item.block, digest = item.digest }
  named.unsaved = unsaved(item.paths or {})
  host.send(name, vim.tbl_extend('error', named, fields))
end

--- Have the host change what is taken of a request. A key that allows it meanwhile waits for the
--- answer, and then allows what stands, unless the agent has changed the request or the hunk could
--- not be taken or left out.
---@param item eca.Pending
---@param fields table<string, any> of `toggle_hunk`
local function toggle(item, fields)
  local choosing = decide.choosing[item.id] or { count = 0 }
  decide.choosing[item.id], choosing.count = choosing, choosing.count + 1
  fields.request = held_intents.expect(function(done)
    choosing.count, choosing.failed = choosing.count - 1, choosing.failed or not done
    if choosing.count == 0 and decide.choosing[item.id] == choosing then
      decide.choosing[item.id] = nil
      local now = decide.now(item)
      local is_same = now and M.version(now) == M.version(item)
      if choosing.allow and is_same and not choosing.failed then
        choosing.allow(now)
      end
    end
  end)
  send(item, 'toggle_hunk', fields)
end

--- Leave out a hunk of a pending change, or take it again.
---@param item eca.Pending
---@param row? integer of its lines (0-based)
function M.toggle(item, row)
  for _, hunk in ipairs(row and item.hunks or {}) do
    local first, last = unpack(hunk.rows)
    if first and row >= first and row <= last then
      toggle(item, { hunk = hunk.n, taken = not hunk.taken })
      return
    end
  end
  local none = row and 'no hunk here: put the cursor on one, or d for the whole diff'
    or 'the hunks are in the chat: - on one there, or d'
  notify.info(item.hunks and none or 'this change is allowed or rejected as a whole')
end

--- Allow some hunks of a pending change.
---@param item eca.Pending
---@param opts eca.DecideOptions
function M.allow(item, opts)
  local choice = decide.only(item, opts.remember and 'allow_always' or 'allow_once')
  if not choice or not item.hunks or opts.all then
    notify.warn('this change is allowed or rejected as a whole')
  else
    send(item, 'allow_hunks', { choice = choice.id, hunks = opts.hunks })
  end
end

-- --- in the diff tab -----------------------------------------------------------------------------

--- Has the user edited the proposed text since the host has taken it over?
---@param tab eca.DiffTab
---@return boolean
function M.is_ahead(tab)
  local buf = tab.sides.bound
  return tab.diff.is_open == true
    and vim.api.nvim_buf_is_loaded(buf)
    and vim.api.nvim_buf_get_changedtick(buf) ~= tab.taken
end

--- Have the host take over the proposed text, and call a function if it has.
---@param tab eca.DiffTab
---@param run? fun()
---@param line? integer of a hunk to leave out, or to take again
local function take_over(tab, run, line)
  local buf, diff = tab.sides.bound, tab.diff
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  local request = diff.request --[[@as eca.Request]]
  tab.asking = true
  host.ask('edit_proposal', {
    chat = diff.chat,
    block = request.block,
    digest = request.digest,
    file = diff.file and diff.file.place or 0,
    text = text_of(buf),
    line = line,
    unsaved = unsaved({ diff.path }),
  }, function(answer)
    tab.asking = nil
    if not vim.api.nvim_buf_is_loaded(buf) then
      return
    elseif vim.api.nvim_buf_get_changedtick(buf) ~= tick then
      take_over(tab, run) -- they have typed on
      if line then
        notify.info('what you typed counts: press - again')
      end
    elseif answer then
      put(buf, answer.text)
      tab.taken = vim.api.nvim_buf_get_changedtick(buf)
      request.digest, diff.after, diff.left_out = answer.digest, answer.text, answer.left_out
      tab.changed()
      local next_run = run or tab.when_taken
      tab.when_taken = nil
      if next_run then
        next_run()
      end
    else
      tab.when_taken = nil
    end
  end)
end

--- Call a function once the host has taken over the proposed text.
---@param tab eca.DiffTab
---@param run fun()
function M.settle(tab, run)
  if tab.asking then
    tab.when_taken = run
  elseif M.is_ahead(tab) then
    take_over(tab, run)
  else
    run()
  end
end

--- Leave out the hunk under the cursor, or take it again.
---@param tab eca.DiffTab
function M.toggle_here(tab)
  if not tab.asking then
    take_over(tab, nil, vim.api.nvim_win_get_cursor(0)[1])
  end
end

--- Have the host take over what the user makes of the proposed text, by whatever command.
---@param tab eca.DiffTab
function M.watch(tab)
  local buf, waiting = tab.sides.bound, false
  tab.taken = vim.api.nvim_buf_get_changedtick(buf)
  vim.bo[buf].modifiable = tab.diff.is_open == true
  if not tab.diff.is_open then
    return
  end
  local function changed()
    waiting = false
    local is_here = vim.api.nvim_get_current_buf() == buf
    local types = is_here and vim.api.nvim_get_mode().mode:find('^[iR]')
    if not types and not tab.asking and M.is_ahead(tab) then
      take_over(tab)
    end
  end
  vim.api.nvim_buf_attach(buf, false, {
    on_lines = function()
      if not vim.api.nvim_tabpage_is_valid(tab.tab) then
        return true
      elseif not waiting then
        waiting = true
        vim.schedule(changed)
      end
    end,
  })
  vim.api.nvim_create_autocmd(
    'InsertLeave',
    { group = tab.group, buffer = buf, callback = changed }
  )
end

-- --- while the diff tab is closed ----------------------------------------------------------------

--- Keep the proposed text of a pending request if the user has edited it. Called before its window
--- is gone.
---@param diff eca.Diff
---@param sides eca.DiffSides
function M.keep(diff, sides)
  local buf = sides.bound
  if vim.api.nvim_buf_is_valid(buf) and vim.api.nvim_buf_get_changedtick(buf) ~= sides.tick then
    vim.bo[buf].bufhidden = 'hide'
    local proposal = { id = diff.request.id, buf = buf, path = diff.path }
    proposal.place = diff.file and diff.file.place
    kept[#kept + 1] = proposal
  end
end

---@param proposal eca.KeptProposal
local function drop(proposal)
  if vim.api.nvim_buf_is_valid(proposal.buf) then
    vim.api.nvim_buf_delete(proposal.buf, { force = true })
  end
end

--- The buffer in which the user has edited a text that is shown again.
---@param diff eca.Diff
---@return integer? buf
function M.take(diff)
  local id, place = diff.request and diff.request.id, diff.file and diff.file.place
  for index, proposal in ipairs(kept) do
    if proposal.id == id and proposal.path == diff.path and proposal.place == place then
      table.remove(kept, index)
      local buf = proposal.buf
      if vim.api.nvim_buf_is_loaded(buf) and text_of(buf) == diff.after then
        vim.bo[buf].bufhidden = 'wipe'
        return buf
      end
      return drop(proposal)
    end
  end
end

--- Called when the pending requests have changed: forgets the edits of those that are gone. Says so
--- if the agent has changed one of which a part was taken.
---@param pending eca.Request[]
function M.update(pending)
  local before, ids = standing, {} ---@type table<string, string>, table<string, true>
  standing = {}
  for _, item in ipairs(pending) do ---@cast item eca.Pending
    ids[item.id] = true
    standing[item.id] = item.stands and M.version(item) or nil
    if before[item.id] and before[item.id] ~= M.version(item) then
      notify.warn('the request has changed: your edits of it are gone')
    end
  end
  local gone = vim.tbl_filter(function(proposal)
    return not ids[proposal.id]
  end, kept)
  kept = vim.tbl_filter(function(proposal)
    return ids[proposal.id] ~= nil
  end, kept)
  vim.iter(gone):each(drop)
end

return M
