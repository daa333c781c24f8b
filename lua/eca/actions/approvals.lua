--- Actions on what waits for the user's word: accept, reject, answer, look at the diff.
local M = {}

--- The block under the cursor, when the cursor is in a transcript.
---@return eca.BlockPlace?
local function block_here()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  return require('eca.transcript').block_at(vim.api.nvim_get_current_buf(), row)
end

--- What waits for approval in the block under the cursor.
---@return eca.Pending?
local function waiting_here()
  local block = block_here()
  for _, item in ipairs(block and require('eca.mirror').pending(block.chat) or {}) do
    if item.block == block.id and item.kind == 'approval' then
      return item
    end
  end
end

--- Is the cursor on a block that waits for approval?
---@return boolean
function M.on_waiting_block()
  return waiting_here() ~= nil
end

--- The id of what waits under the cursor; nil means what waits longest.
---@return string?
local function id_here()
  local item = waiting_here()
  return item and item.id
end

--- Go to the prompt that asks.
function M.focus()
  require('eca.approval').focus()
end

--- Accept what waits under the cursor, else what waits longest.
function M.approve()
  require('eca').approve({ id = id_here() })
end

--- Accept it, and the like for this session.
function M.remember()
  require('eca').approve({ id = id_here(), remember = true })
end

--- Accept all that waits.
function M.approve_all()
  require('eca').approve({ all = true })
end

--- Reject what waits under the cursor, else what waits longest.
function M.reject()
  require('eca').reject({ id = id_here() })
end

--- Ask what to do instead, then reject; nothing typed leaves it pending.
function M.reject_reason()
  local id = id_here()
  vim.ui.input({ prompt = 'What to do instead: ' }, function(reason)
    if reason and reason ~= '' then
      require('eca').reject({ id = id, reason = reason })
    end
  end)
end

--- Show the diff of the tool call under the cursor, else of what waits.
function M.diff()
  local block = block_here()
  if block then
    require('eca.host').send('diff', { chat = block.chat, block = block.id })
    return
  end
  for _, item in ipairs(require('eca.mirror').pending()) do
    if item.kind == 'approval' then
      require('eca.host').send('diff', { chat = item.chat, id = item.id })
      return
    end
  end
  require('eca.notify').info('there is no diff to show')
end

--- Answer the question that waits.
function M.answer()
  require('eca.question').open()
end

return M
