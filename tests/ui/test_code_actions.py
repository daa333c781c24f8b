"""Code actions: templates and a rewrite for the code at a place, ours and the language client's."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import handshake, turn
from tests.support.servers import ScriptedServer
from tests.ui.staged import WITHOUT_HOST
from tests.ui.talk import prompts, start_chat, wait_idle
from tests.ui.test_templates import LIST

REPORT = """
vim.diagnostic.set(vim.api.nvim_create_namespace('test'), vim.fn.bufnr('calc.py'), {
  { lnum = 1, col = 4, message = 'no\\27[31m sum', severity = 1, source = 'checker' },
})
"""
PARAMETERS = """
local from, to, kind, only = ...
local params = {
  textDocument = { uri = vim.uri_from_bufnr(0) },
  range = { start = { line = from[1], character = from[2] },
    ['end'] = { line = to[1], character = to[2] } },
  context = { diagnostics = {}, triggerKind = kind, only = only },
}
local found = vim.lsp.buf_request_sync(0, 'textDocument/codeAction', params, 20000)
local titles = {}
for _, answer in pairs(found or {}) do
  for _, action in ipairs(answer.result or {}) do
    titles[#titles + 1] = action.title
  end
end
return titles
"""
CLIENTS = "return #vim.lsp.get_clients({ bufnr = ..., name = 'eca-actions' })"
BUILT_IN = ["Document this code", "Explain this code", "Write tests for this code"]
REWRITE = "Rewrite this code …"
REPORTED = ["Fix what is reported here", "Explain what is reported here"]


def start(start_nvim: StartNeovim, server: ScriptedServer, project: Path, *, is_on: bool) -> Neovim:
    theirs = project / ".nvim/eca/templates"
    theirs.mkdir(parents=True)
    (theirs / "steal.md").write_text("---\ndescription: steals\x1b[31m\n---\nsend {{selection}}")
    settings = {
        "templates": {"user": False},
        "contexts": {"cursor": False},
        "approval": {"guard": 0},
        "code_actions": is_on,
    }
    nvim = start_chat(
        start_nvim, server, "src/calc.py", settings=settings, cwd=project, columns=80, init=LIST
    )
    nvim.keys("<C-w>h")
    return nvim


def wait_prompt(nvim: Neovim, server: ScriptedServer, count: int) -> str:
    nvim.wait_for(lambda: len(prompts(server)) == count, f"prompt {count}")
    wait_idle(nvim)
    return prompts(server)[-1]


def test_act_lists_what_fits_the_place_and_sends_it(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path
) -> None:
    server = scripted_server(handshake(), [*turn(), *turn(), *turn()])
    nvim = start(start_nvim, server, workspace, is_on=False)
    assert nvim.lua(CLIENTS, 0) == 0

    # Without a selection the paragraph is meant, also from a mapping.
    nvim.command("nmap gA <Plug>(EcaCodeActions)")
    nvim.lua("_G.choice = 2")
    nvim.keys("gggA")
    told = wait_prompt(nvim, server, 1)
    listed = nvim.lua("return _G.listed")
    assert listed == [*BUILT_IN[:2], "steals  (project)", BUILT_IN[2], REWRITE]
    assert told.startswith("Explain this code")
    assert "src/calc.py:1-2:\n```python\ndef add(a, b):\n    return a + b\n```" in told

    # What is reported comes first; a range is what is meant.
    nvim.lua(REPORT)
    nvim.keys("<C-w>h2G")
    nvim.lua("_G.choice = 1")
    nvim.command("Eca act")
    told = wait_prompt(nvim, server, 2)
    assert nvim.lua("return _G.listed")[:2] == REPORTED
    assert "\nsrc/calc.py:2:5: error: no [31m sum [checker]\n" in told
    assert "@src/calc.py" in told
    nvim.keys("<C-w>h")
    nvim.lua("_G.choice = 2")
    nvim.command("1Eca act")
    assert "src/calc.py:1-1:\n```python\ndef add(a, b):\n```" in wait_prompt(nvim, server, 3)
    assert nvim.lua("return _G.listed")[0] == BUILT_IN[0]

    # In the chat's own windows there is no code; the last entry asks for an instruction.
    nvim.keys(":Eca act<CR>")
    assert "no code here: go to a window with a file" in nvim.messages()
    nvim.keys("<C-w>h")
    nvim.lua("_G.choice = 5")
    nvim.keys("ggV:Eca act<CR>")
    nvim.wait_screen("Rewrite src/calc.py (line 1)")


@pytest.mark.parametrize("command", ["bdelete", "bwipeout"])
def test_the_client_offers_them_where_code_is(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path, command: str
) -> None:
    server = scripted_server(handshake(), turn())
    big = workspace / "big.txt"
    big.write_text("x" * 300_000)
    nvim = start(start_nvim, server, workspace, is_on=True)
    nvim.wait_until("#vim.lsp.get_clients({ bufnr = 0, name = 'eca-actions' }) == 1")
    nvim.lua("require('eca.actions.code_actions').PATIENCE = 60000")
    everything = [*BUILT_IN[:2], "steals  (project)", BUILT_IN[2], REWRITE]
    here = ([0, 0], [0, 0])
    assert nvim.lua(PARAMETERS, *here, 1) == [f"eca: {it}" for it in everything]
    nvim.lua(REPORT)
    assert nvim.lua(PARAMETERS, [1, 0], [1, 0], 1)[:2] == [f"eca: {it}" for it in REPORTED]
    assert nvim.lua(PARAMETERS, *here, 2) == [], "a lamp of a plugin stays for language servers"
    for only in (["source.organizeImports"], ["quickfix"], ["source.fixAll"], ["ec"]):
        assert nvim.lua(PARAMETERS, *here, 1, only) == []
    assert nvim.lua(PARAMETERS, *here, 1, ["refactor"]) == [f"eca: {REWRITE}"]
    assert nvim.lua(PARAMETERS, [70, 0], [90, 3], 1), "beyond the end is the end"

    # Chosen as users do.
    nvim.lua("_G.choice = 2")
    nvim.keys("gg")
    nvim.lua("vim.lsp.buf.code_action()")
    told = wait_prompt(nvim, server, 1)
    assert "src/calc.py:1-2:\n```python\ndef add(a, b):\n" in told

    # Not in our buffers, big ones, and those without a file.
    for line in ("EcaChat", "wincmd h | edit big.txt", "enew", "help", "new | terminal"):
        nvim.command(f"silent {line}")
        nvim.lua("vim.wait(20)")
        assert nvim.lua(CLIENTS, 0) == 0, line
    nvim.command("silent edit src/calc.py")
    nvim.wait_until("#vim.lsp.get_clients({ bufnr = 0, name = 'eca-actions' }) == 1")
    nvim.command("messages clear")
    nvim.command(f"{command} src/calc.py")
    assert nvim.messages() == ""
    nvim.command("checkhealth eca")
    assert any("the language client eca-actions offers them" in it for it in nvim.buffer_lines())


STOP = "vim.lsp.stop_client(vim.lsp.get_clients({ name = 'eca-actions' }))"
ATTACH = "require('eca.actions.code_actions').attach(vim.api.nvim_get_current_buf())"
NOTED = "_G.noted = {} vim.notify = function(text) table.insert(_G.noted, text) end"


def test_a_client_that_was_stopped_leaves_nothing_behind(start_nvim: StartNeovim) -> None:
    nvim = start_nvim("src/calc.py", init=WITHOUT_HOST, settings={"code_actions": True})
    for _ in range(3):
        nvim.lua(ATTACH)
        nvim.wait_until("#vim.lsp.get_clients({ bufnr = 0, name = 'eca-actions' }) == 1")
        nvim.lua(STOP)
        nvim.wait_until("#vim.lsp.get_clients({ name = 'eca-actions' }) == 0")
    nvim.lua(ATTACH)
    nvim.wait_until("#vim.lsp.get_clients({ bufnr = 0, name = 'eca-actions' }) == 1")
    nvim.lua(NOTED)
    nvim.command("bdelete src/calc.py")
    assert nvim.lua("return _G.noted") == []
