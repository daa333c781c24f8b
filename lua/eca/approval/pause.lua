--- The moment after an answer in which the user stays in the float, as the next request may come.
---
--- Rules kept here:
--- - It takes no answer: the keys that answered do nothing in it, and it begins again with each.
--- - Any other key leaves the float, and is typed in the window the user returns to.
local config = require('eca.config')

local M = {}

--- Milliseconds that it lasts at most.
M.LENGTH = 1000

--- Listens for letters that are too many to be mapped.
local namespace = vim.api.nvim_create_namespace('eca.approval.pause')

local NAMED = '<BS> <Bslash> <CR> <Del> <Down> <End> <Esc> <Home> <Insert> <Left> <PageDown> '
  .. '<PageUp> <Right> <S-Tab> <Space> <Tab> <Up> <lt> <C-Left> <C-Right> <S-Left> <S-Right>'

--- The keys of a keyboard, as mappings name them, without letters beyond ASCII.
---@return string[]
local function all_keys()
  local keys = vim.split(NAMED, ' ')
  for number = 1, 12 do
    keys[#keys + 1] = ('<F%d>'):format(number)
  end
  for byte = 33, 126 do
    local character = string.char(byte)
    local plain = character ~= '<' and character ~= '\\'
    keys[#keys + 1] = plain and character or nil
    keys[#keys + 1] = plain and ('<M-%s>'):format(character) or nil
    keys[#keys + 1] = character:find('[a-z%]^_]') and ('<C-%s>'):format(character) or nil
  end
  return keys
end

--- Begin, with the buffer that the float shows now: once it shows another, that is gone.
---@param win integer
---@param choices eca.Choice[] whose keys do nothing
---@param length integer milliseconds until the float is hidden; it closes after the guard time
---@param leave fun() closes it
function M.begin(win, choices, length, leave)
  local buf, turn = vim.api.nvim_win_get_buf(win), 0
  local function close()
    if vim.api.nvim_buf_is_valid(buf) then
      leave()
    end
  end
  ---@param ms integer
  local function wait(ms)
    turn = turn + 1
    local mine = turn
    vim.defer_fn(function()
      if mine == turn and vim.api.nvim_buf_is_valid(buf) then
        vim.api.nvim_win_set_config(win, { hide = true })
        vim.defer_fn(function()
          if mine == turn then
            close()
          end
        end, math.max(0, config.get().approval.guard))
      end
    end, ms)
  end
  local letters = ''
  local function go_on(key)
    leave()
    vim.api.nvim_feedkeys(vim.keycode(key), 'it', false)
    vim.api.nvim_feedkeys(letters, 'it', true) -- before that key
    letters = ''
  end
  -- Such a letter does nothing here by itself.
  vim.on_key(function(_, typed)
    if not vim.api.nvim_buf_is_valid(buf) then
      vim.on_key(nil, namespace)
    elseif vim.api.nvim_get_current_buf() == buf and typed:find('^[\xC2-\xF4]') then
      letters = letters .. typed
      vim.schedule(function()
        if letters ~= '' then
          go_on('')
        end
      end)
    end
  end, namespace)
  local ignored = {} ---@type table<string, true>
  for _, choice in ipairs(choices) do
    ignored[choice.key] = true
  end
  for _, key in ipairs(all_keys()) do
    vim.keymap.set('n', key, function()
      if ignored[key] then
        wait(M.LENGTH)
      else
        go_on(key)
      end
    end, { buffer = buf, nowait = true })
  end
  vim.api.nvim_create_autocmd('WinLeave', { buffer = buf, callback = vim.schedule_wrap(close) })
  wait(length)
end

return M
