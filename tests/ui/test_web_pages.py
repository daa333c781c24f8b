"""A login that needs a browser: the page that a server opens is shown, copied, opened by `gx`."""

import pytest
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import handshake
from tests.ui.talk import lines_of

PAGE = "https://login.example.org/authorize?state=" + "abcdef" * 12
RUN = 'while [ ! -e "$GATE" ]; do sleep 0.05; done; for page in $PAGES; do xdg-open "$page"; done'


NO_CLIPBOARD = "vim.g.loaded_clipboard_provider = 1"
"""Neovim 0.11 has one where any tmux runs."""
CLIPBOARD = """
local function none() return { '' } end
local function copy(lines) vim.g.copied = table.concat(lines) end
vim.g.clipboard = { name = 'test', copy = { ['+'] = copy, ['*'] = copy },
  paste = { ['+'] = none, ['*'] = none } }
"""


@pytest.mark.either_nvim
@pytest.mark.parametrize("clipboard", [NO_CLIPBOARD, CLIPBOARD], ids=["none", "one"])
def test_a_page_that_a_server_opens(
    clipboard: str, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake())
    gate = server.journal.parent / "gate"
    command = ["sh", "-c", f'({RUN}) & exec "$0" "$@"', *server.command]
    environment = {"GATE": str(gate), "PAGES": f"{PAGE} {PAGE}", "PATH": "/usr/bin:/bin"}
    settings = {"server": {"command": command, "env": environment}}
    nvim = start_nvim(settings=settings, columns=80, init=clipboard)
    nvim.lua("vim.ui.open = function(target) vim.g.opened = target end")
    nvim.keys(":EcaChat<CR><Esc>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    gate.write_text("")
    nvim.wait_screen("eca wants to open a page")
    if clipboard == CLIPBOARD:
        nvim.wait_screen("eca wants to open login.example.org: copied to the clipboard")
        assert nvim.eval("g:copied") == PAGE
    else:
        nvim.wait_screen("eca wants to open login.example.org: yanked, p puts it")
        assert nvim.eval("getreg('\"')") == PAGE
    lines = lines_of(nvim)
    assert "a page of login.example.org" in " ".join(lines)
    (at,) = (number for number, line in enumerate(lines, 1) if PAGE in line)
    assert nvim.eval("get(g:, 'opened', '')") == ""
    nvim.lua("vim.api.nvim_set_current_win(vim.fn.bufwinid(require('eca').chats()[1].buf))")
    nvim.keys(f"{at}G0<CR>")
    assert nvim.wait_until("vim.g.opened") == PAGE
    nvim.lua("vim.g.opened = nil")
    nvim.keys("gx")
    assert nvim.wait_until("vim.g.opened") == PAGE
