--- The options of a window that takes an answer for what it shows.
---
--- Rules kept here:
--- - Nothing in it is folded, concealed, cut, shifted or drawn over because of an option that the
---   user has for other windows: every option of a window that could do so has a value here.
--- - It keeps them while it takes answers, whatever sets another one (`:windo set nowrap`).
local M = {}

---@type table<string, any>
local SHOWN = {
  arabic = false,
  breakindent = false,
  breakindentopt = '',
  colorcolumn = '',
  concealcursor = '',
  conceallevel = 0,
  cursorbind = false,
  cursorcolumn = false,
  cursorline = false,
  diff = false,
  eventignorewin = '', -- else nobody learns that it was scrolled
  fillchars = 'eob: ,lastline:…',
  foldcolumn = '0',
  foldenable = false,
  foldmethod = 'manual',
  linebreak = false,
  list = false,
  listchars = 'tab:→ ,trail:·,nbsp:␣',
  number = false,
  relativenumber = false,
  rightleft = false,
  scrollbind = false,
  scrolloff = 0,
  showbreak = 'NONE',
  signcolumn = 'no',
  smoothscroll = true, -- else a line longer than the window cannot be read
  spell = false,
  statuscolumn = '',
  virtualedit = 'NONE',
  winblend = 0,
  winhighlight = '',
  wrap = true,
}
local kept = {} ---@type table<integer, table<string, any>> options by window

if vim.fn.exists('+eventignorewin') == 0 then
  SHOWN.eventignorewin = nil -- Neovim 0.10
end

--- Set the options of a window and its buffer.
---@param win integer
---@param own? table<string, any> options with another value here
function M.set(win, own)
  local options = vim.tbl_extend('force', SHOWN, own or {})
  kept[win] = options
  for name, value in pairs(options) do
    vim.wo[win][0][name] = value
  end
end

--- The options that a window has, to be given back to it.
---@param win integer
---@return table<string, any>
function M.before(win)
  local options = {} ---@type table<string, any>
  for name in pairs(SHOWN) do
    options[name] = vim.api.nvim_get_option_value(name, { win = win, scope = 'local' })
  end
  return options
end

--- The window takes no answer any more.
---@param win integer
---@param before table<string, any>
function M.release(win, before)
  kept[win] = nil
  for name, value in pairs(before) do
    vim.wo[win][0][name] = value
  end
end

vim.api.nvim_create_autocmd({ 'OptionSet', 'SafeState' }, { -- what an autocommand sets has no event
  group = vim.api.nvim_create_augroup('eca.consent.window', {}),
  callback = function()
    for win, options in pairs(kept) do
      local is_valid = vim.api.nvim_win_is_valid(win)
      kept[win] = is_valid and options or nil
      for name, value in pairs(is_valid and options or {}) do
        local opens_folds = name == 'foldenable' and value -- as `zi` does
        if not opens_folds and vim.wo[win][name] ~= value then
          vim.wo[win][0][name] = value
        end
      end
    end
  end,
})

return M
