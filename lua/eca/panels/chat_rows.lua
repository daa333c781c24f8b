--- Rows about chats: the float shows what the chat under the cursor asks; going to the next row.
---
--- Rules kept here: what is asked is that of the row as long as the user is in the panel, or in the
--- float that was entered from it.
local return_window = require('eca.ui.return_window')

local M = {}

--- The panels whose rows are about chats, by buffer.
local lists = {} ---@type table<integer, eca.ShownPanel>

--- The list of chats in which the user is, or from which they have entered the float.
---@return eca.ShownPanel? panel, integer? line
local function here()
  local win = return_window.here().win
  local panel = vim.api.nvim_win_is_valid(win) and lists[vim.api.nvim_win_get_buf(win)]
  if panel then
    return panel, vim.api.nvim_win_get_cursor(win)[1]
  end
end

--- Called when the buffer of a panel is gone.
---@param buf integer
function M.forget(buf)
  lists[buf] = nil
end

--- Have the float show what the chat under the cursor asks. Called when that may be another.
---@param panel eca.ShownPanel
function M.watch(panel)
  lists[panel.buf] = panel.rows[1] and panel.rows[1].chat and panel or nil
  if lists[panel.buf] then
    local approval = require('eca.approval') -- late: other panels ask nothing
    approval.ask_only(function()
      local list, line = here()
      local row = list and list.rows[line]
      return list and (row and row.chat or false)
    end)
  end
end

--- The chats of the rows, if the user is in a list of chats.
---@return string[]? ids, integer? line of the cursor
function M.listed()
  local panel, line = here()
  if panel and vim.api.nvim_get_current_buf() == panel.buf then
    return vim.tbl_map(function(row)
      return row.chat
    end, panel.rows), line
  end
end

return M
