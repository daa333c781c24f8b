"""The agent gets the editor's diagnostics, whatever the user is doing."""

from pathlib import Path

from tests.support import script
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.servers import ScriptedServer

PUBLISH = """
local path, message = ...
local buf = vim.fn.bufadd(path)
vim.fn.bufload(buf)
vim.diagnostic.set(vim.api.nvim_create_namespace('test'), buf, {
  { lnum = 0, col = 0, end_col = 3, severity = 2, message = message, source = 'lint' },
})
"""
MOMENT = 300
"""Milliseconds that a user needs to get into a prompt."""
PROMPTS = {
    "insert": "i",
    "input": ":call input('x? ')<CR>",
    "confirm": ":call confirm('x? ')<CR>",
    "hit-enter": ':echo "a\\nb\\nc\\nd"<CR>',
    "pending operator": "d",
    "pending register": '"',
    "another tab": ":tabnew<CR>",
}


def asking(number: int) -> script.Steps:
    """Return a turn in which the server asks for all diagnostics, a moment after the prompt."""
    asked = script.ask("editor/getDiagnostics", {}, number)
    return script.turn(script.pause(MOMENT), asked)


def start(start_nvim: StartNeovim, server: ScriptedServer, path: Path, message: str) -> Neovim:
    nvim = start_nvim(settings={"server": {"command": server.command}})
    nvim.lua(PUBLISH, str(path), message)
    nvim.keys(":EcaChat<CR><Esc><C-w>h")
    nvim.wait_until("require('eca').status().server == 'ready'")
    return nvim


def test_diagnostics_are_answered_whatever_the_user_does(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path
) -> None:
    path = workspace / "hello world.txt"
    path.write_text("one\ntwo\n")
    server = scripted_server(script.handshake(), *map(asking, range(len(PROMPTS))))
    nvim = start(start_nvim, server, path, "mind this")
    wrong = []
    for number, (name, keys) in enumerate(PROMPTS.items()):
        nvim.lua("require('eca').send('hi')")
        nvim.keys(keys)
        what = f"the answer of the editor in {name}"
        answers = nvim.wait_for(lambda: server.answers()[number:], what)  # noqa: B023 - not kept
        found = answers[0]["result"]["diagnostics"]
        told = [(it["message"], it["severity"], it["source"]) for it in found]
        if told != [("mind this\n", "warning", "lint")]:
            wrong.append((name, told))
        nvim.leave_prompt()
        nvim.keys("<C-\\><C-n>")
    assert not wrong
