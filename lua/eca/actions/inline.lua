--- Inline completion: asking for it, and accepting it whole, by word or by line.
---
--- Rules kept here:
--- - A text is inserted as it was shown: no mapping, indent, 'textwidth' or plugin for pairs
---   changes it. It is one undo step, and a part of what `.` repeats.
local inline = require('eca.inline')
local notify = require('eca.ui.notify')

local M = {}

--- A word with the blanks before it, or signs with the blanks before them.
local WORD = [[^\_s*\%(\k\+\|\%(\k\@!\S\)\+\)]]
local INSERT = "<C-g>u<Cmd>lua require('eca.actions.inline').insert()<CR><C-g>u"

---@type table<'all'|'word'|'line', fun(text: string): string>
local PARTS = {
  all = function(text)
    return text
  end,
  word = function(text)
    local word = vim.fn.matchstr(text, WORD)
    return word ~= '' and word or text
  end,
  line = function(text)
    return text:match('^\n*[^\n]*')
  end,
}

local accepted ---@type string? what is about to be inserted

local function join()
  require('eca.view') -- joins the host with what draws
  require('eca.ui.highlights').setup()
end

--- Insert what was accepted. Called by a key of `accept`, so that it is an undo step of its own.
function M.insert()
  local text, offered = accepted, inline.offered()
  accepted = nil
  if not text or not offered or not vim.startswith(offered, text) then
    return
  end
  local paste = vim.paste -- it may be another plugin's, which would change the text
  rawset(vim, 'paste', function(lines)
    vim.api.nvim_put(lines, 'c', false, true)
    return true
  end)
  local worked, fault = pcall(vim.api.nvim_paste, text, false, -1)
  rawset(vim, 'paste', paste)
  if not worked then
    notify.warn('cannot insert the completion: ' .. tostring(fault))
  end
end

--- Accept what is offered at the cursor, or a part of it; the rest stays.
---@param part 'all'|'word'|'line'
function M.accept(part)
  local offered = inline.offered()
  if offered then
    accepted = PARTS[part](offered)
    vim.api.nvim_feedkeys(vim.keycode(INSERT), 'ni', false)
  end
end

--- Remove what is offered.
function M.dismiss()
  inline.dismiss()
end

--- What can be accepted at the cursor; nil while a menu is open: then the key that asks is its own.
---@return string?
function M.completion()
  return not inline.is_menu_open() and inline.offered() or nil
end

--- Ask what completes the text at the cursor. Outside of insert mode that begins first.
---@param buf? integer the current one: nothing is asked for a buffer where the cursor is not
function M.complete(buf)
  local current, mode = vim.api.nvim_get_current_buf(), vim.api.nvim_get_mode().mode
  local fault = inline.fault_of(current)
  if buf and buf ~= 0 and buf ~= current then
    return
  elseif mode:find('^i') then
    inline.ask(join)
  elseif mode ~= 'n' then
    notify.info('completion is for insert mode')
  elseif fault then
    notify.info(fault)
  else
    local win = vim.api.nvim_get_current_win()
    local function is_here()
      return vim.api.nvim_get_current_buf() == current and vim.api.nvim_get_current_win() == win
    end
    vim.api.nvim_create_autocmd('InsertEnter', {
      group = vim.api.nvim_create_augroup('eca.inline.complete', {}),
      once = true,
      callback = vim.schedule_wrap(function()
        if is_here() then -- else insert mode was left, and this is another file
          inline.ask(join)
        end
      end),
    })
    local at_end = vim.fn.col('.') >= vim.fn.col('$') - 1
    vim.cmd.startinsert({ bang = at_end })
  end
end

--- Called when the user begins to insert text (`plugin/eca.lua`).
function M.entered()
  inline.enter(join)
end

return M
