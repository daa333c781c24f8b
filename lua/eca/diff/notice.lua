--- Lines above both sides of a diff, about what the two texts do not show.
---
--- Rules kept here:
--- - They have a window of their own, so that the sides and these lines never hide each other.
local consent_window = require('eca.consent.window')
local decide = require('eca.input.decide')
local others = require('eca.ui.others')
local sanitize = require('eca.ui.sanitize')

local M = {}

local namespace = vim.api.nvim_create_namespace('eca.diff.notice')

--- Part of the screen's rows that the window takes at most.
local MOST = 1 / 3

--- What happens to the newline at the end of the file.
---@param diff eca.Diff
---@return string?
local function about_end(diff)
  local before, after = diff.before:sub(-1) == '\n', diff.after:sub(-1) == '\n'
  if diff.fault or before == after or diff.before == '' or diff.after == '' then
    return nil
  end
  return after and 'adds the newline at the end' or 'removes the newline at the end'
end

---@param diff eca.Diff
---@return string[]
local function lines_of(diff)
  local now = diff.request and decide.now(diff.request)
  local lines = {} ---@type string[]
  if diff.fault then
    lines[1] = ('does not apply; these are the hunks as the agent sent them: %s'):format(diff.fault)
  end
  lines[#lines + 1] = about_end(diff)
  lines[#lines + 1] = now and now.taken_back
  vim.list_extend(lines, now and now.warnings or {})
  if now and (now.diff_row or 0) > 0 then
    lines[#lines + 1] = 'the request says more than these texts: close this to read it in the float'
  end
  vim.list_extend(lines, diff.remark and vim.split(diff.remark, '\n') or {})
  return vim.tbl_map(function(line)
    return '! ' .. sanitize.line(line)
  end, lines)
end

--- Fit the window's height to its text. Called again when the width changes.
---@param win? integer
function M.fit(win)
  if win and vim.api.nvim_win_is_valid(win) then
    local most = math.max(1, math.floor(vim.o.lines * MOST))
    local rows = math.min(vim.api.nvim_win_text_height(win, {}).all, most)
    if vim.api.nvim_win_get_height(win) ~= rows then
      vim.api.nvim_win_set_height(win, rows)
    end
  end
end

--- Open the window in this tab page, or write what it says now.
---@param diff eca.Diff
---@param shown? integer the window
---@return integer? win nil if there is nothing to say
function M.draw(diff, shown)
  local lines = lines_of(diff)
  local is_open = shown ~= nil and vim.api.nvim_win_is_valid(shown)
  if #lines == 0 then
    return is_open and others.close(shown) or nil
  end
  local buf = is_open and vim.api.nvim_win_get_buf(shown) or others.create_buf()
  vim.bo[buf].bufhidden, vim.bo[buf].modifiable = 'wipe', true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  for row, line in ipairs(lines) do
    local group = row == 1 and diff.fault and 'EcaError' or 'EcaWarning'
    vim.api.nvim_buf_set_extmark(buf, namespace, row - 1, 0, { end_col = #line, hl_group = group })
  end
  vim.bo[buf].modifiable = false
  if is_open then
    M.fit(shown)
    return shown
  end
  local config = { split = 'above', win = -1, height = #lines, style = 'minimal' }
  local win = vim.api.nvim_open_win(buf, false, config)
  consent_window.set(win, { linebreak = true, breakindent = true, breakindentopt = 'shift:2' })
  vim.wo[win][0].winfixheight = true
  vim.wo[win][0].winbar, vim.wo[win][0].statusline = '', ' '
  M.fit(win)
  return win
end

return M
