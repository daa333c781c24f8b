--- A float in the middle of the screen to read something in; `q`, `<Esc>` or leaving it closes it.
local M = {}

local namespace = vim.api.nvim_create_namespace('eca.panel')

---@class eca.Panel
---@field title string one line of our own words
---@field lines string[]
---@field marks eca.Mark[]
---@field key? string closes it too
---@field actions? table<string, fun()> by key

---@class eca.PanelText
---@field lines string[]
---@field marks eca.Mark[]

---@class eca.PanelHandle
---@field close fun()
---@field write fun(text: eca.PanelText)

---@param panel eca.Panel
---@return vim.api.keyset.win_config
local function place(panel)
  local widest = vim.fn.strdisplaywidth(panel.title)
  for _, line in ipairs(panel.lines) do
    widest = math.max(widest, vim.fn.strdisplaywidth(line))
  end
  local width = math.min(widest + 2, vim.o.columns - 4)
  local height = math.max(1, math.min(#panel.lines, vim.o.lines - 6))
  return {
    relative = 'editor',
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.floor((vim.o.columns - width) / 2),
    width = width,
    height = height,
    style = 'minimal',
    border = 'rounded',
    title = (' %s '):format(panel.title),
    title_pos = 'center',
    zindex = 60,
  }
end

---@param buf integer
---@param text eca.PanelText
local function write(buf, text)
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, text.lines)
  vim.bo[buf].modifiable = false
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  for _, mark in ipairs(text.marks) do
    vim.api.nvim_buf_set_extmark(buf, namespace, mark[1], mark[2], {
      end_col = mark[3] < 0 and #text.lines[mark[1] + 1] or mark[3],
      hl_group = mark[4],
    })
  end
end

--- Show something, and go there.
---@param panel eca.Panel
---@return eca.PanelHandle
function M.show(panel)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  write(buf, panel)
  local origin = vim.api.nvim_get_current_win()
  local win = vim.api.nvim_open_win(buf, true, place(panel))
  vim.wo[win][0].winhighlight = 'NormalFloat:EcaFloat,FloatBorder:EcaFloatBorder'
  local function vanish()
    if vim.api.nvim_win_is_valid(win) then
      vim.api.nvim_win_close(win, true)
    end
  end
  local function close()
    if vim.api.nvim_get_current_win() == win and vim.api.nvim_win_is_valid(origin) then
      vim.api.nvim_set_current_win(origin) -- it vanishes when it is left
    end
    vanish()
  end
  for _, key in ipairs({ 'q', '<Esc>', panel.key }) do
    vim.keymap.set('n', key, close, { buffer = buf, nowait = true })
  end
  for key, act in pairs(panel.actions or {}) do
    vim.keymap.set('n', key, act, { buffer = buf, nowait = true })
  end
  vim.api.nvim_create_autocmd('WinLeave', { buffer = buf, once = true, callback = vanish })
  return {
    close = close,
    write = function(text)
      write(buf, text)
      vim.api.nvim_win_set_config(win, place(vim.tbl_extend('force', panel, text)))
    end,
  }
end

return M
