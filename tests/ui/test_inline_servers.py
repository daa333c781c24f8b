"""Inline completion with servers that complete code, and with those that do not."""

from tests.support import script
from tests.support.editor import Neovim
from tests.support.factories import PrepareReplay, PrepareScript, StartNeovim

MAP = """
vim.keymap.set('i', '<F2>', '<Plug>(EcaAcceptCompletion)')
vim.keymap.set('i', '<F3>', '<Plug>(EcaAcceptWord)')
"""


def with_server(start_nvim: StartNeovim, command: list[str]) -> Neovim:
    """Edit a file in a workspace whose server starts with the first pause."""
    settings = {"completion": {"inline": True}, "server": {"command": command}}
    return start_nvim("src/calc.py", init=MAP, settings=settings, columns=80)


def test_the_recorded_server_completes(start_nvim: StartNeovim, replay: PrepareReplay) -> None:
    nvim = with_server(start_nvim, replay("completion").command)
    recorded = ["def add(a, b):", "   ", "", "print(add(1,2))"]
    while nvim.eval("b:changedtick") != 6:  # the recorded version is one more
        nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, ...)", recorded)
    nvim.keys("2GA ")
    nvim.wait_screen("    return a + b")
    nvim.keys("<F3>")
    assert nvim.buffer_lines()[1] == "    return"
    nvim.keys("<F2>")
    assert nvim.buffer_lines()[1] == "    return a + b"


def test_a_server_that_cannot_is_asked_once(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    failed = {"error": {"type": "warning", "message": "Could not connect: refused"}}
    inline = "completion/inline"
    server = scripted_server(
        script.handshake(),
        script.expect(inline),
        script.expect("$/cancelRequest"),
        script.expect(inline),
        [{"do": "reply", "method": inline, "answer": failed}],
    )
    nvim = with_server(start_nvim, server.command)
    nvim.lua("vim.notify = function(text) _G.told = text end")
    nvim.keys("Ax")
    nvim.wait_for(lambda: server.received(inline), "the request")
    nvim.keys("y")
    nvim.wait_for(lambda: len(server.received(inline)) == 2, "another one")
    assert len(server.received("$/cancelRequest")) == 1
    nvim.wait_until("(_G.told or ''):find('refused .*: inline completion is off')")
    nvim.keys("<Esc>Az<Esc>")
    assert len(server.received(inline)) == 2
