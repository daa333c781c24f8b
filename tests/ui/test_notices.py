"""Messages outside the chat: they wait while they would cover what the user reads."""

from pathlib import Path

import pytest
from tests.support.factories import StartNeovim
from tests.ui.staged import WITHOUT_HOST

NEWS = "require('eca.ui.notify').info('something happened')"
TOLD = "vim.fn.execute('messages'):find('something happened') ~= nil"


@pytest.mark.parametrize(
    ("keys", "question"),
    [
        (":let g:answer = confirm('Really?', \"&Yes\\n&No\")<CR>", "[Y]es, (N)o:"),
        (":%s/a/b/c<CR>", "replace with b"),
    ],
)
def test_a_line_waits_until_a_dialog_is_over(
    start_nvim: StartNeovim, workspace: Path, keys: str, question: str
) -> None:
    nvim = start_nvim(init=WITHOUT_HOST)
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'a' })")
    nvim.keys(keys)
    nvim.wait_screen(question)
    assert nvim.mode == "r?"
    nvim.child.channel.notify("nvim_exec_lua", NEWS, [])
    if not nvim.blocked():  # it continues while it asks
        assert not nvim.lua(f"return {TOLD}")
        assert not nvim.lua(f"return {TOLD}")
    nvim.wait_screen(question)
    nvim.keys("y")
    nvim.wait_until(TOLD)
    nvim.wait_screen("eca: something happened")


WARNING = "require('eca.ui.notify').warn('your edits are lost')"
LATER = "local now = vim.uv.hrtime; vim.uv.hrtime = function() return now() + 2e9 end"


def test_a_routine_line_does_not_replace_a_warning(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST)
    nvim.lua(f"require('eca.ui.message').READING = 1000 {WARNING} {NEWS}")
    nvim.wait_screen("eca: your edits are lost")
    nvim.keys("j")  # too early: it was meant for something else
    nvim.lua(NEWS)
    nvim.keys("")
    assert "your edits are lost" in nvim.screen
    assert not nvim.lua(f"return {TOLD}")
    nvim.lua("require('eca.ui.notify').warn('worse')")
    nvim.wait_screen("eca: worse")
    nvim.lua(LATER)
    nvim.keys("j")
    nvim.wait_screen("eca: something happened")
    assert nvim.eval("execute('messages')").count("something happened") == 2
    nvim.lua("require('eca.ui.notify').info('at once')")
    nvim.wait_screen("eca: at once")


MACRO = "iwho <Esc>:sleep 300m<CR>athere<Esc>"


@pytest.mark.parametrize("level", ["error", "warn", "info"])
def test_a_line_ends_no_macro_that_runs_meanwhile(level: str, start_nvim: StartNeovim) -> None:
    nvim = start_nvim()
    nvim.lua("vim.fn.setreg('a', vim.keycode(...))", MACRO)
    nvim.lua(f"vim.defer_fn(function() require('eca.ui.notify').{level}('a line') end, 100)")
    nvim.keys("@a")
    nvim.wait_until("vim.api.nvim_get_current_line() == 'who there'")
    assert ("a line" in nvim.eval("v:errmsg")) == (level == "error")
    nvim.take_errors()
