--- Commands and <Plug> mappings, as stubs: nothing of the plugin is loaded before its first use.
---
--- `lua/eca/keys.lua` holds what each <Plug> does; a test keeps the two lists equal.

if vim.g.loaded_eca then
  return
end
vim.g.loaded_eca = true

if vim.fn.has('nvim-0.10') == 0 then
  vim.api.nvim_echo({ { 'eca: needs Neovim 0.10 or newer', 'WarningMsg' } }, true, {})
  return
end

local command = vim.api.nvim_create_user_command

command('EcaChat', function(call)
  require('eca.commands').chat(call)
end, { nargs = '*', range = true, bang = true, desc = 'Open the chat, or send it a prompt' })

command('Eca', function(call)
  require('eca.commands').run(call)
end, {
  nargs = '*',
  range = true,
  bang = true,
  desc = 'All that can be done with a chat',
  complete = function(lead, line)
    return require('eca.commands').complete(lead, line)
  end,
})

local names = {
  normal = 'Act AddContext Agent Answer Approval Approve ApproveAll ApproveRemember Chat '
    .. 'ChangeComment ChangeKeep ChangeRevert Changes ChangeSend Conflicts Files UndoTurn '
    .. 'Chats Clear CloseAll CloseBlock Contexts Delete Diff Flag Fork Hide History HistoryNext '
    .. 'HistoryPrevious Input Keys Model New NextAgent NextApproval NextChat NextFlag NextTurn '
    .. 'Older OpenAll OpenBlock OpenFile OpenLink Palette PreviousApproval PreviousChat '
    .. 'PreviousFlag PreviousTurn Prompts Queue Reject RejectReason Rename Resume Rollback '
    .. 'Stop Submit Tasks Toggle ToggleBlock Trust Unqueue Usage Variant YankCode',
  insert = 'HistoryNext HistoryPrevious Unqueue',
  visual = 'AddContext',
  everywhere = 'Answer Approval Approve ApproveAll ApproveRemember Chat Diff Hide Queue Reject '
    .. 'RejectReason Stop Submit Toggle',
}
local modes =
  { normal = { 'n' }, insert = { 'i' }, visual = { 'x' }, everywhere = { 'i', 'x', 't' } }

for mode, list in pairs(names) do
  for name in list:gmatch('%a+') do
    local run = "<Cmd>lua require('eca.keys').run('" .. name .. "')<CR>"
    for _, letter in ipairs(modes[mode]) do
      vim.api.nvim_set_keymap(letter, '<Plug>(Eca' .. name .. ')', run, { noremap = true })
    end
  end
end
