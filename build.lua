-- The build step of an installation, which lazy.nvim runs by itself: makes the plugin's Python
-- environment, in the plugin's folder.
assert(vim.fn.has('win32') == 0, 'eca: on Windows, run Neovim inside WSL')
local folder = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2))
local command = { 'python3', '-m', 'scripts.setup', 'plugin' }
local result = vim.system(command, { cwd = folder, text = true }):wait() -- Neovim goes on to draw
assert(result.code == 0, result.stdout .. result.stderr)
