-- `make chat` inside Neovim: puts this checkout on the runtime path, opens the chat (with the
-- server of ECA_SERVER, if it is set) and sends the prompt. It runs before plugins are loaded, in
-- the checkout's folder. The prompt is data from the environment; it is removed from there so that
-- no program started later sees it.

local checkout = vim.fn.escape(vim.fn.getcwd(), '\\,')
vim.o.runtimepath = checkout .. ',' .. vim.o.runtimepath

-- Opening a Python file makes Neovim search for a Python, which takes most of a second. Name ours.
vim.g.python3_host_prog = vim.g.python3_host_prog or vim.fn.getcwd() .. '/.venv/bin/python3'

-- With the demo agent the workspace is its folder, so that the files it changes are at hand.
local folder = vim.env.ECA_DEMO_FOLDER
if folder then
  vim.fn.chdir(folder)
end

local server = vim.env.ECA_SERVER
if server or not vim.g.eca then
  vim.g.eca = { server = server or 'eca' }
end

local prompt = vim.env.ECA_PROMPT
vim.env.ECA_PROMPT = nil

local function open_chat()
  if folder then
    vim.cmd.edit('greet.py') -- what the demo talks about
  end
  vim.cmd.EcaChat({ args = prompt and { prompt } or {} })
end

local function run_headless()
  local ok, fault = pcall(function()
    require('eca.commands.headless').run(prompt)
  end)
  if not ok then -- without a screen nobody could quit this Neovim
    io.stderr:write(fault, '\n')
    vim.cmd.cquit({ count = 1 })
  end
end

vim.api.nvim_create_autocmd('VimEnter', {
  once = true,
  nested = true, -- else the file that is opened gets no type
  callback = vim.list_contains(vim.v.argv, '--headless') and run_headless or open_chat,
})
