--- Every highlight group, linked by default to one of Neovim's own: no colours of our own.
local M = {}

---@class eca.Highlight
---@field name string
---@field link string
---@field text string what it colours

---@type eca.Highlight[]
M.groups = {
  { name = 'EcaNormal', link = 'Normal', text = 'text of the chat' },
  { name = 'EcaUser', link = 'CursorLine', text = 'lines of what you said' },
  { name = 'EcaUserBar', link = 'Function', text = 'bar before what you said' },
  { name = 'EcaGuide', link = 'NonText', text = 'line before the body of an open block' },
  { name = 'EcaMuted', link = 'Comment', text = 'side remarks: counts, folded text' },
  { name = 'EcaTime', link = 'Comment', text = 'how long something took' },
  { name = 'EcaToolPreparing', link = 'Comment', text = 'sign of a tool call being written' },
  { name = 'EcaToolWaiting', link = 'DiagnosticWarn', text = 'sign of a call that waits for you' },
  { name = 'EcaToolRunning', link = 'DiagnosticInfo', text = 'sign of a call that runs' },
  { name = 'EcaToolDone', link = 'DiagnosticOk', text = 'sign of a call that went well' },
  { name = 'EcaToolFailed', link = 'DiagnosticError', text = 'sign of a call that failed' },
  { name = 'EcaToolRejected', link = 'DiagnosticWarn', text = 'sign of a call that was rejected' },
  { name = 'EcaToolName', link = 'Statement', text = 'what a tool does' },
  { name = 'EcaToolTarget', link = 'Directory', text = 'what a tool does it to' },
  { name = 'EcaDiffAdd', link = 'Added', text = 'added lines of a diff' },
  { name = 'EcaDiffDelete', link = 'Removed', text = 'removed lines of a diff' },
  { name = 'EcaDiffAddText', link = 'DiffAdd', text = 'added words of a changed line' },
  { name = 'EcaDiffDeleteText', link = 'DiffDelete', text = 'removed words of a changed line' },
  { name = 'EcaDiffHunk', link = 'Comment', text = 'header of a hunk' },
  { name = 'EcaMore', link = 'Directory', text = 'lines that are left out' },
  { name = 'EcaAnsiBlack', link = 'Comment', text = 'black output of a program' },
  { name = 'EcaAnsiRed', link = 'DiagnosticError', text = 'red output of a program' },
  { name = 'EcaAnsiGreen', link = 'DiagnosticOk', text = 'green output of a program' },
  { name = 'EcaAnsiYellow', link = 'DiagnosticWarn', text = 'yellow output of a program' },
  { name = 'EcaAnsiBlue', link = 'DiagnosticInfo', text = 'blue output of a program' },
  { name = 'EcaAnsiMagenta', link = 'Special', text = 'magenta output of a program' },
  { name = 'EcaAnsiCyan', link = 'DiagnosticHint', text = 'cyan output of a program' },
  { name = 'EcaAnsiWhite', link = 'Normal', text = 'white output of a program' },
  { name = 'EcaChanged', link = 'DiffAdd', text = 'lines the agent changed, in their file' },
  { name = 'EcaReasoning', link = 'Comment', text = 'what the model thinks' },
  { name = 'EcaNote', link = 'Comment', text = 'note of the client or the agent' },
  { name = 'EcaError', link = 'DiagnosticError', text = 'note of a failure' },
  { name = 'EcaWarning', link = 'DiagnosticWarn', text = 'what to look at twice' },
  { name = 'EcaQuestion', link = 'Question', text = 'question of the agent' },
  { name = 'EcaOption', link = 'Identifier', text = 'answer to choose' },
  { name = 'EcaFlag', link = 'Todo', text = 'flag in the history' },
  { name = 'EcaImage', link = 'Directory', text = 'place of an image' },
  { name = 'EcaHook', link = 'PreProc', text = 'hook of the agent' },
  { name = 'EcaHeading', link = 'Title', text = 'Markdown: heading' },
  { name = 'EcaBold', link = '@markup.strong', text = 'Markdown: bold' },
  { name = 'EcaItalic', link = '@markup.italic', text = 'Markdown: italic' },
  { name = 'EcaBoldItalic', link = '@markup.strong', text = 'Markdown: bold italic' },
  { name = 'EcaStrike', link = '@markup.strikethrough', text = 'Markdown: struck out' },
  { name = 'EcaCode', link = 'String', text = 'Markdown: code in a line' },
  { name = 'EcaCodeBlock', link = 'EcaNormal', text = 'Markdown: fenced code' },
  { name = 'EcaFence', link = 'NonText', text = 'Markdown: fence around code' },
  { name = 'EcaLink', link = 'Underlined', text = 'Markdown: link' },
  { name = 'EcaQuote', link = 'Comment', text = 'Markdown: quotation' },
  { name = 'EcaListMark', link = 'Special', text = 'Markdown: bullet or number' },
  { name = 'EcaRule', link = 'NonText', text = 'Markdown: line across' },
  { name = 'EcaTableBorder', link = 'NonText', text = 'Markdown: border of a table' },
  { name = 'EcaRunning', link = 'DiagnosticInfo', text = 'winbar: a turn runs' },
  { name = 'EcaWaiting', link = 'DiagnosticWarn', text = 'winbar: the agent waits for you' },
  { name = 'EcaFailed', link = 'DiagnosticError', text = 'winbar: the server failed' },
  { name = 'EcaWinbar', link = 'WinBar', text = 'winbars' },
  { name = 'EcaWinbarTitle', link = 'Title', text = 'winbar: title of the chat' },
  { name = 'EcaWinbarDim', link = 'Comment', text = 'winbar: model, tokens, cost' },
  { name = 'EcaTrust', link = 'ErrorMsg', text = 'winbar: the agent asks for nothing' },
  { name = 'EcaNew', link = 'DiagnosticInfo', text = 'winbar: lines below that you have not seen' },
  { name = 'EcaPlan', link = 'Title', text = 'winbar: tasks of the agent' },
  { name = 'EcaUsage1', link = 'Function', text = 'usage: categories without a colour, in turn' },
  { name = 'EcaUsage2', link = 'String', text = 'usage: the second of them, and so on' },
  { name = 'EcaUsage3', link = 'Constant', text = 'usage: the third' },
  { name = 'EcaUsage4', link = 'Statement', text = 'usage: the fourth' },
  { name = 'EcaUsage5', link = 'Type', text = 'usage: the fifth' },
  { name = 'EcaUsage6', link = 'Special', text = 'usage: the sixth' },
  { name = 'EcaUsageFree', link = 'NonText', text = 'usage: what is free' },
  { name = 'EcaUsageMark', link = 'DiagnosticWarn', text = 'usage: where the chat is compacted' },
  { name = 'EcaContext', link = 'Identifier', text = 'context token' },
  { name = 'EcaPrompt', link = 'Function', text = 'sign before the input' },
  { name = 'EcaPlaceholder', link = 'Comment', text = 'text of an empty input' },
  { name = 'EcaQueued', link = 'Comment', text = 'prompt that waits' },
  { name = 'EcaSeparator', link = 'WinSeparator', text = 'line between chat and input' },
  { name = 'EcaWrap', link = 'NonText', text = 'arrow where a long line goes on' },
  { name = 'EcaFloat', link = 'NormalFloat', text = 'floating windows' },
  { name = 'EcaFloatBorder', link = 'FloatBorder', text = 'border of floating windows' },
  { name = 'EcaFloatTitle', link = 'FloatTitle', text = 'title of floating windows' },
  { name = 'EcaKey', link = 'Special', text = 'key that can be pressed' },
}

local function define()
  for _, group in ipairs(M.groups) do
    vim.api.nvim_set_hl(0, group.name, { link = group.link, default = true })
  end
end

--- Define the groups, now and after every change of the colour scheme.
function M.setup()
  define()
  local group = vim.api.nvim_create_augroup('eca.ui.highlights', {})
  vim.api.nvim_create_autocmd('ColorScheme', { group = group, callback = define })
end

return M
