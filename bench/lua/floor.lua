--- The floor: the least that a client of this server in Neovim has to do, in plain Lua.
---
--- It cuts the job's output into messages, decodes them, appends the text of each read to a scratch
--- buffer at once, and scrolls to the end. A tool call is one line. No blocks, no colours, no
--- conceal, no second process.
local M = {}

local request = 0
local unread = {} ---@type string[] what has not arrived whole
local missing = 0 -- bytes until it may have
local job, buf, win ---@type integer, integer, integer
local is_acp = false -- one message a line, as in the Agent Client Protocol
local texts = {} ---@type string[] of the messages of this read

---@param method string
---@param params table
---@param expects_answer boolean
local function send(method, params, expects_answer)
  local message = { jsonrpc = '2.0', method = method, params = params }
  if expects_answer then
    request = request + 1
    message.id = request
  end
  local body = vim.json.encode(message)
  local framed = is_acp and body .. '\n' or ('Content-Length: %d\r\n\r\n%s'):format(#body, body)
  vim.fn.chansend(job, framed)
end

--- Append what the messages of a read say.
local function append()
  if #texts == 0 then
    return
  end
  local lines = vim.split(table.concat(texts), '\n', { plain = true })
  texts = {}
  local last = vim.api.nvim_buf_line_count(buf) - 1
  vim.api.nvim_buf_set_text(buf, last, -1, last, -1, lines)
  vim.api.nvim_win_set_cursor(win, { last + #lines, 0 })
end

---@param message table
local function handle(message)
  if message.method == 'session/update' then
    texts[#texts + 1] = message.params.update.content.text
  elseif message.method == 'chat/contentReceived' then
    local content = message.params.content
    if content.type == 'text' then
      texts[#texts + 1] = content.text
    elseif content.type == 'toolCalled' then
      texts[#texts + 1] = ('\n%s %s\n'):format(content.name, content.summary)
    end
  end
end

--- Handle all whole messages.
---@param data string
---@return string rest what has not arrived whole
---@return integer missing bytes until it may have
local function read(data)
  local at = 1
  while true do
    local _, head_end, length = data:find('^Content%-Length: (%d+)\r\n\r\n', at)
    local last = head_end and head_end + tonumber(length)
    if not last or last > #data then
      return data:sub(at), last and last - #data or 0
    end
    handle(vim.json.decode(data:sub(head_end + 1, last)))
    at = last + 1
  end
end

--- Handle all whole lines.
---@param data string
---@return string rest what has not arrived whole
local function read_lines(data)
  local at = 1
  while true do
    local last = data:find('\n', at, true)
    if not last then
      return data:sub(at)
    end
    handle(vim.json.decode(data:sub(at, last - 1)))
    at = last + 1
  end
end

--- Take what the job wrote; a message that comes in many pieces is joined once.
---@param piece string
local function take(piece)
  unread[#unread + 1] = piece
  missing = is_acp and 0 or missing - #piece
  if missing > 0 then
    return
  end
  if is_acp then
    unread[1] = read_lines(table.concat(unread))
  else
    unread[1], missing = read(table.concat(unread))
  end
  for index = #unread, 2, -1 do
    unread[index] = nil
  end
  append()
end

--- Show a scratch buffer beside the current window and connect it to a server.
---@param command string[]
---@param width integer columns of the window that shows the text
---@param height integer its rows
---@param protocol 'eca'|'acp'
function M.open(command, width, height, protocol)
  is_acp = protocol == 'acp'
  buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].undolevels = -1
  win = vim.api.nvim_open_win(buf, false, { split = 'right', width = width })
  local filler = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_open_win(filler, false, { split = 'below', win = win })
  vim.api.nvim_win_set_height(win, height)
  job = vim.fn.jobstart(command, {
    on_stdout = function(_, data)
      take(table.concat(data, '\n'))
    end,
  })
  send('initialize', { processId = vim.fn.getpid(), capabilities = vim.empty_dict() }, true)
  send(is_acp and 'session/new' or 'initialized', vim.empty_dict(), is_acp)
end

--- Send a prompt, or open a chat of another day.
---@param method 'chat/prompt'|'chat/open'|'session/prompt'
function M.ask(method)
  send(method, { chatId = '11111111-1111-4111-8111-111111111111', message = 'go on' }, true)
end

--- The text shown.
---@return string[]
function M.lines()
  return vim.api.nvim_buf_get_lines(buf, 0, -1, true)
end

return M
