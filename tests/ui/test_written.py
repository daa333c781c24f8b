"""Noticing which files the user writes costs the same, however many buffers are loaded."""

from tests.support.editor import Neovim

LOAD = """
for number = 1, ... do
  vim.fn.bufload(vim.fn.bufadd(('file-%d.txt'):format(number)))
end
"""
STEPS = """
jit.off()
local steps = 0
debug.sethook(function() steps = steps + 1 end, '', 1)
vim.api.nvim_exec_autocmds('SafeState', { group = 'eca.editor.user_writes' })
debug.sethook()
jit.on()
return steps
"""


def test_unchanged_buffers_cost_nothing(nvim: Neovim) -> None:
    nvim.lua("require('eca.editor.user_writes')")
    nvim.lua(LOAD, 3)
    few = nvim.lua(STEPS)
    nvim.lua(LOAD, 300)
    assert nvim.lua(STEPS) <= few
