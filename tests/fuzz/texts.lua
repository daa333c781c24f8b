-- Run by `python -m tests.fuzz`: `nvim --clean --headless -l tests/fuzz/texts.lua ROOT RUNS SEED`.
-- Lines made up of pieces that mean something go through what reads Markdown, contexts and names in
-- Lua. Nothing may fail, and every region is inside of its line.
local root, runs, seed = _G.arg[1], tonumber(_G.arg[2]), tonumber(_G.arg[3])
vim.opt.runtimepath:prepend(root)
math.randomseed(seed)

local inline, line = require('eca.markdown.inline'), require('eca.markdown.line')
local sanitize, tokens = require('eca.ui.sanitize'), require('eca.context.tokens')

local PIECES = {
  '*',
  '**',
  '_',
  '`',
  '``',
  '~~',
  '[',
  ']',
  '(',
  ')',
  '![',
  '<',
  '>',
  '|',
  '\\',
  '#',
  '-',
  '1. ',
  ' ',
  '\t',
  'a',
  'word',
  'https://x.org/',
  'file:///',
  '@',
  '@io.py:1-2',
  '#',
  ':',
  '10',
  '"',
  "'",
  '%{',
  '%',
  '\27[31m',
  '\226\128\174',
  '\204\129',
  '\240\159\145\141',
  '\255',
  '\0',
  '&amp;',
  '---',
  '```',
  '- [x] ',
  '/',
  '..',
  '{',
  '}',
} -- stylua: ignore

local function made_up()
  local pieces = {}
  for index = 1, math.random(0, 40) do
    pieces[index] = PIECES[math.random(#PIECES)]
  end
  return table.concat(pieces)
end

local function check(text)
  for _, region in ipairs(inline.parse(text)) do
    local first, last = region.first, region.last
    assert(first >= 0 and last >= first and last <= #text, 'a region outside of the line')
  end
  line.parse(text)
  sanitize.invisible(text)
  assert(not sanitize.line(text):find('%c'), 'a control character is left')
  local shown = vim.api.nvim_eval_statusline(sanitize.statusline(text), { maxwidth = 1000 })
  assert(#shown.str > 0 or text == '' or not text:find('[%w]'), 'nothing is shown')
  tokens.find(text)
  tokens.find_missing(text)
end

for _ = 1, runs do
  local text = made_up()
  local worked, fault = pcall(check, text)
  if not worked then
    io.stdout:write(('FOUND %q: %s\n'):format(text, fault))
    os.exit(1)
  end
end
io.stdout:write(('Done %d runs\n'):format(runs))
