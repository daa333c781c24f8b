"""The agent gets the editor's diagnostics, whatever the user is doing."""

from pathlib import Path

import pytest
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


@pytest.fixture
def server(scripted_server: PrepareScript) -> ScriptedServer:
    """Prepare a server that asks for all diagnostics a moment after the first prompt."""
    prompted = [*script.expect("chat/prompt"), *script.pause(MOMENT)]
    return scripted_server(script.handshake(), prompted, script.ask("editor/getDiagnostics", {}))


def start(start_nvim: StartNeovim, server: ScriptedServer, path: Path, message: str) -> Neovim:
    nvim = start_nvim(settings={"server": {"command": server.command}})
    nvim.lua(PUBLISH, str(path), message)
    nvim.keys(":EcaChat<CR><Esc><C-w>h")
    nvim.wait_until("require('eca').status().server == 'ready'")
    return nvim


@pytest.mark.parametrize("keys", PROMPTS.values(), ids=PROMPTS.keys())
def test_diagnostics_are_answered_in(
    keys: str, start_nvim: StartNeovim, server: ScriptedServer, workspace: Path
) -> None:
    path = workspace / "hello world.txt"
    path.write_text("one\ntwo\n")
    nvim = start(start_nvim, server, path, "mind this")
    nvim.lua("require('eca').send('hi')")
    nvim.keys(keys)
    answer = nvim.wait_for(server.answers, "the answer of the editor")[0]
    found = answer["result"]["diagnostics"]
    assert [(it["message"], it["severity"], it["source"]) for it in found] == [
        ("mind this\n", "warning", "lint")
    ]
    nvim.leave_prompt()
