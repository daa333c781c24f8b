--- All highlight groups. By default each is linked to one of Neovim's: we define no colours.
local M = {}

---@class eca.Highlight
---@field name string
---@field link string
---@field text string what it colours

---@type eca.Highlight[]
M.groups = {
  { name = 'EcaNormal', link = 'Normal', text = 'text of the chat' },
  { name = 'EcaUser', link = 'CursorLine', text = 'lines of your prompts' },
  { name = 'EcaUserBar', link = 'Function', text = 'bar before your prompts' },
  { name = 'EcaGuide', link = 'NonText', text = 'line before the body of an open block' },
  { name = 'EcaMuted', link = 'Comment', text = 'less important text: counts, folded text' },
  { name = 'EcaTime', link = 'Comment', text = 'how long something took' },
  { name = 'EcaToolPreparing', link = 'Comment', text = 'sign of a tool call being written' },
  { name = 'EcaToolWaiting', link = 'DiagnosticWarn', text = 'sign of a pending call' },
  { name = 'EcaToolRunning', link = 'DiagnosticInfo', text = 'sign of a running call' },
  { name = 'EcaToolDone', link = 'DiagnosticOk', text = 'sign of a call that succeeded' },
  { name = 'EcaToolFailed', link = 'DiagnosticError', text = 'sign of a call that failed' },
  { name = 'EcaToolRejected', link = 'DiagnosticWarn', text = 'sign of a call that was rejected' },
  { name = 'EcaToolName', link = 'Statement', text = 'what a tool does' },
  { name = 'EcaToolTarget', link = 'Directory', text = 'what a tool works on' },
  { name = 'EcaDiffAdd', link = 'Added', text = 'added lines of a diff' },
  { name = 'EcaDiffDelete', link = 'Removed', text = 'removed lines of a diff' },
  { name = 'EcaDiffAddText', link = 'DiffAdd', text = 'added words of a changed line' },
  { name = 'EcaDiffDeleteText', link = 'DiffDelete', text = 'removed words of a changed line' },
  { name = 'EcaDiffHunk', link = 'Comment', text = 'header of a hunk' },
  { name = 'EcaMore', link = 'Directory', text = 'count of lines left out' },
  { name = 'EcaAnsiBlack', link = 'Comment', text = 'black output of a program' },
  { name = 'EcaAnsiRed', link = 'DiagnosticError', text = 'red output of a program' },
  { name = 'EcaAnsiGreen', link = 'DiagnosticOk', text = 'green output of a program' },
  { name = 'EcaAnsiYellow', link = 'DiagnosticWarn', text = 'yellow output of a program' },
  { name = 'EcaAnsiBlue', link = 'DiagnosticInfo', text = 'blue output of a program' },
  { name = 'EcaAnsiMagenta', link = 'Special', text = 'magenta output of a program' },
  { name = 'EcaAnsiCyan', link = 'DiagnosticHint', text = 'cyan output of a program' },
  { name = 'EcaAnsiWhite', link = 'Normal', text = 'white output of a program' },
  { name = 'EcaStderr', link = 'Comment', text = 'standard error of a job, without a colour' },
  { name = 'EcaChanged', link = 'DiffAdd', text = 'lines the agent changed, in the file' },
  { name = 'EcaReviewAdd', link = 'DiffAdd', text = 'added lines to review, in the file' },
  { name = 'EcaReviewChange', link = 'DiffChange', text = 'changed lines to review' },
  { name = 'EcaReviewText', link = 'DiffText', text = 'changed words to review' },
  { name = 'EcaReviewSign', link = 'Special', text = 'what is to review: signs, numbers, winbar' },
  { name = 'EcaReasoning', link = 'Comment', text = "the model's reasoning" },
  { name = 'EcaNote', link = 'Comment', text = 'note of the client or the agent' },
  { name = 'EcaError', link = 'DiagnosticError', text = 'note of a failure' },
  { name = 'EcaWarning', link = 'DiagnosticWarn', text = 'warning' },
  { name = 'EcaQuestion', link = 'Question', text = 'question of the agent' },
  { name = 'EcaOption', link = 'Identifier', text = 'option of a question' },
  { name = 'EcaFlag', link = 'Todo', text = 'flag in the history' },
  { name = 'EcaImage', link = 'Directory', text = 'name of an image' },
  { name = 'EcaHook', link = 'PreProc', text = 'hook of the agent' },
  { name = 'EcaHeading', link = 'Title', text = 'Markdown: heading' },
  { name = 'EcaBold', link = '@markup.strong', text = 'Markdown: bold' },
  { name = 'EcaItalic', link = '@markup.italic', text = 'Markdown: italic' },
  { name = 'EcaBoldItalic', link = '@markup.strong', text = 'Markdown: bold italic' },
  { name = 'EcaStrike', link = '@markup.strikethrough', text = 'Markdown: strikethrough' },
  { name = 'EcaCode', link = 'String', text = 'Markdown: inline code' },
  { name = 'EcaCodeBlock', link = 'CursorLine', text = 'Markdown: rows of fenced code' },
  { name = 'EcaFence', link = 'Comment', text = 'Markdown: language of fenced code' },
  { name = 'EcaLink', link = 'Underlined', text = 'Markdown: link' },
  { name = 'EcaQuote', link = 'Comment', text = 'Markdown: quotation' },
  { name = 'EcaListMark', link = 'Special', text = 'Markdown: bullet or number' },
  { name = 'EcaRule', link = 'NonText', text = 'Markdown: horizontal rule' },
  { name = 'EcaTableBorder', link = 'NonText', text = 'Markdown: border of a table' },
  { name = 'EcaRunning', link = 'DiagnosticInfo', text = 'winbar: a turn is running' },
  { name = 'EcaWaiting', link = 'DiagnosticWarn', text = 'winbar: the agent needs you' },
  { name = 'EcaFailed', link = 'DiagnosticError', text = 'winbar: the server failed' },
  { name = 'EcaWinbar', link = 'WinBar', text = 'winbars' },
  { name = 'EcaWinbarTitle', link = 'Title', text = 'winbar: title of the chat' },
  { name = 'EcaWinbarDim', link = 'Comment', text = 'winbar: model, tokens, cost' },
  { name = 'EcaTrust', link = 'ErrorMsg', text = 'winbar: tools run without asking' },
  { name = 'EcaNew', link = 'DiagnosticInfo', text = 'winbar: new lines below the window' },
  { name = 'EcaPlan', link = 'Title', text = 'winbar: tasks of the agent' },
  { name = 'EcaUsage1', link = 'Function', text = 'usage: first category without a colour' },
  { name = 'EcaUsage2', link = 'String', text = 'usage: the second of them, and so on' },
  { name = 'EcaUsage3', link = 'Constant', text = 'usage: the third' },
  { name = 'EcaUsage4', link = 'Statement', text = 'usage: the fourth' },
  { name = 'EcaUsage5', link = 'Type', text = 'usage: the fifth' },
  { name = 'EcaUsage6', link = 'Special', text = 'usage: the sixth' },
  { name = 'EcaUsageFree', link = 'NonText', text = 'usage: free part' },
  { name = 'EcaUsageMark', link = 'DiagnosticWarn', text = 'usage: where the chat is compacted' },
  { name = 'EcaContext', link = 'Identifier', text = 'context token' },
  { name = 'EcaContextMissing', link = 'DiagnosticWarn', text = 'context that does not exist' },
  { name = 'EcaPrompt', link = 'Function', text = 'sign before the input' },
  { name = 'EcaPlaceholder', link = 'Comment', text = 'text of an empty input' },
  { name = 'EcaGhost', link = 'Comment', text = 'completion at the cursor' },
  { name = 'EcaQueued', link = 'Comment', text = 'queued prompt' },
  { name = 'EcaSeparator', link = 'WinSeparator', text = 'line between chat and input' },
  { name = 'EcaWrap', link = 'NonText', text = 'arrow where a long line wraps' },
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

--- Define the groups, now and after each change of the colour scheme.
function M.setup()
  define()
  local group = vim.api.nvim_create_augroup('eca.ui.highlights', {})
  vim.api.nvim_create_autocmd('ColorScheme', { group = group, callback = define })
end

return M
