--- Fenced code: where it begins and ends, kept as text arrives.
---
--- Rules kept here:
--- - Every fence is one ranged extmark, opener and closer included, so that it moves with the text.
---   An open fence's end has right gravity: text appended at it makes it grow by itself.
--- - A line is read once, when it is complete. Nothing before the appended rows is read again.
--- - Rows are 0-based, ends exclusive.
local M = {}

M.namespace = vim.api.nvim_create_namespace('eca.fences')

---@class eca.markdown.Fence
---@field language string as the model wrote it, lower case; '' for none
---@field closed boolean
---@field coloured boolean its code has been coloured, or needs no colours

---@class eca.markdown.OpenFence
---@field id integer extmark
---@field mark string backticks or tildes of the opener

---@class eca.markdown.Buffer
---@field fences table<integer, eca.markdown.Fence> by extmark id
---@field open table<integer, eca.markdown.OpenFence> by block id

local buffers = {} ---@type table<integer, eca.markdown.Buffer>

---@param buf integer
---@return eca.markdown.Buffer
local function state_of(buf)
  local state = buffers[buf]
  if not state then
    state = { fences = {}, open = {} }
    buffers[buf] = state
    vim.api.nvim_create_autocmd('BufWipeout', {
      buffer = buf,
      once = true,
      callback = function()
        buffers[buf] = nil
      end,
    })
  end
  return state
end

---@param buf integer
---@param state eca.markdown.Buffer
---@param block integer
---@param row integer
---@param last integer the block's last row so far, where the fence grows
---@param mark string
---@param info string
local function open(buf, state, block, row, last, mark, info)
  local id = vim.api.nvim_buf_set_extmark(buf, M.namespace, row, 0, {
    end_row = last,
    end_col = #vim.api.nvim_buf_get_lines(buf, last, last + 1, false)[1],
    end_right_gravity = true,
    invalidate = true,
    undo_restore = false,
  })
  local language = (info:match('^[%w_+#.-]+') or ''):lower()
  state.fences[id] = { language = language, closed = false, coloured = false }
  state.open[block] = { id = id, mark = mark }
end

---@param buf integer
---@param state eca.markdown.Buffer
---@param block integer
---@param last integer row after the closing line
local function close(buf, state, block, last)
  local fence = state.open[block]
  state.open[block] = nil
  local place = vim.api.nvim_buf_get_extmark_by_id(buf, M.namespace, fence.id, {})
  if not place[1] then
    state.fences[fence.id] = nil
    return
  end
  vim.api.nvim_buf_set_extmark(buf, M.namespace, place[1], 0, {
    id = fence.id,
    end_row = last,
    end_col = 0,
    strict = false,
    end_right_gravity = false,
    invalidate = true,
    undo_restore = false,
  })
  state.fences[fence.id].closed = true
end

---@param line string
---@return string? mark, string? info
local function opener(line)
  local mark, info = line:match('^%s*(```+)([^`]*)$')
  if not mark then
    mark, info = line:match('^%s*(~~~+)(.*)$')
  end
  return mark, info and vim.trim(info)
end

---@param line string
---@param mark string
---@return boolean
local function closes(line, mark)
  local found = line:match('^%s*(' .. mark:sub(1, 1) .. '+)%s*$')
  return found ~= nil and #found >= #mark
end

---@param buf integer
---@param state eca.markdown.Buffer
---@param block integer
---@param row integer
---@param last integer the block's last row so far
---@param line string
local function read_line(buf, state, block, row, last, line)
  local fence = state.open[block]
  if fence then
    if closes(line, fence.mark) then
      close(buf, state, block, row + 1)
    end
    return
  end
  local mark, info = opener(line)
  if mark then
    open(buf, state, block, row, last, mark, info or '')
  end
end

---@param buf integer
---@param block integer
---@param first integer
---@param stop integer exclusive
---@param last integer the block's last row so far
local function read_rows(buf, block, first, stop, last)
  local state = state_of(buf)
  for offset, line in ipairs(vim.api.nvim_buf_get_lines(buf, first, stop, false)) do
    if line:find('^%s*[`~]') then
      read_line(buf, state, block, first + offset - 1, last, line)
    end
  end
end

--- Text was appended to a block of Markdown; its last row may still grow.
---@param buf integer
---@param block integer
---@param first_row integer where the append began
---@param last_row integer where it ended
function M.text_appended(buf, block, first_row, last_row)
  if last_row > first_row then
    read_rows(buf, block, first_row, last_row, last_row)
  end
end

--- A block of Markdown gets no more text: its last line is complete, an open fence ends with it.
---@param buf integer
---@param block integer
---@param last_row integer the block's last row
function M.block_closed(buf, block, last_row)
  read_rows(buf, block, last_row, last_row + 1, last_row)
  local state = state_of(buf)
  if state.open[block] then
    close(buf, state, block, last_row + 1)
  end
end

---@class eca.markdown.PlacedFence
---@field id integer
---@field first integer row of the opener
---@field last integer row after the closer, or after the text so far
---@field fence eca.markdown.Fence

---@param state eca.markdown.Buffer
---@param id integer
---@param first integer
---@param details table
---@return eca.markdown.PlacedFence?
local function placed(state, id, first, details)
  local fence = state.fences[id]
  if not fence or details.invalid then
    return nil
  end
  local last = details.end_row + (details.end_col > 0 and 1 or 0)
  return { id = id, first = first, last = last, fence = fence }
end

--- Where one fence is now; nil when its text is gone.
---@param buf integer
---@param id integer
---@return eca.markdown.PlacedFence?
function M.place(buf, id)
  local state = buffers[buf]
  if not state or not vim.api.nvim_buf_is_valid(buf) then
    return nil
  end
  local found = vim.api.nvim_buf_get_extmark_by_id(buf, M.namespace, id, { details = true })
  return found[1] and placed(state, id, found[1], found[3])
end

--- The fences that touch some rows, in order.
---@param buf integer
---@param first_row integer
---@param last_row integer inclusive
---@return eca.markdown.PlacedFence[]
function M.between(buf, first_row, last_row)
  local state = buffers[buf]
  if not state then
    return {}
  end
  local places = {} ---@type eca.markdown.PlacedFence[]
  local marks = vim.api.nvim_buf_get_extmarks(
    buf,
    M.namespace,
    { first_row, 0 },
    { last_row, -1 },
    { overlap = true, details = true }
  )
  for _, mark in ipairs(marks) do
    places[#places + 1] = placed(state, mark[1], mark[2], mark[4])
  end
  return places
end

--- The fence around a row, if any.
---@param buf integer
---@param row integer
---@return eca.markdown.PlacedFence?
function M.at(buf, row)
  for _, place in ipairs(M.between(buf, row, row)) do
    if place.first <= row and row < place.last then
      return place
    end
  end
  return nil
end

return M
