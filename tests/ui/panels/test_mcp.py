"""The panel of MCP servers on a screen: a server added, read, failing, mended and removed."""

import json
import os
import signal
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.screen import Value
from tests.support.script import Steps, expect, handshake, reply, send, stderr

PANEL = "eca://panel/mcp"
TOOLS = [{"name": "echo", "description": "Says what it hears"}, {"name": "image"}]
EVENTS = """
    events = {}
    vim.api.nvim_create_autocmd('User', { pattern = 'EcaToolServerChanged', callback = function(ev)
      events[#events + 1] = ev.data.name .. ' ' .. ev.data.status
    end })
"""


def state(name: str, *statuses: str, **more: Value) -> Steps:
    said = {"type": "mcp", "name": name, "tools": [], "prompts": None, "resources": None, **more}
    return [step for it in statuses for step in send("tool/serverUpdated", said | {"status": it})]


def start(
    start_nvim: StartNeovim, scripted_server: PrepareScript, *steps: Steps, columns: int = 80
) -> Neovim:
    """Start Neovim with a server, and show its MCP servers."""
    native = send("tool/serverUpdated", {"type": "native", "name": "ECA", "status": "running"})
    server = scripted_server(handshake(), native, *steps)
    settings = {"server": {"command": server.command}, "approval": {"guard": 0}}
    nvim = start_nvim(settings=settings, columns=columns, init=EVENTS)
    nvim.keys(":EcaChat<CR><Esc>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    nvim.keys(":Eca mcp<CR>")
    return nvim


def lines(nvim: Neovim) -> list[str]:
    code = "return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, true)"
    found: list[str] = nvim.lua(code, PANEL)
    return found


@pytest.mark.either_nvim
def test_a_server_is_added_read_mended_and_removed(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path
) -> None:
    fault = "[MCP] Could not initialize MCP server notes: error=2, No such file or directory\n"
    running = state("notes", "running", tools=TOOLS, prompts=[{"name": "greet"}])
    nvim = start(
        *(start_nvim, scripted_server, expect("mcp/addServer"), state("notes", "starting")),
        *(stderr(fault), state("notes", "failed"), reply("mcp/addServer", {})),
        *(expect("mcp/updateServer"), state("notes", "starting"), running),
        *(
            state("notes", "stopping", "stopped", "starting"),
            running,
            reply("mcp/updateServer", {}),
        ),
        *(expect("mcp/stopServer"), state("notes", "stopping", "stopped", tools=TOOLS)),
        *(expect("mcp/startServer"), state("notes", "starting", command="node"), running),
        *(expect("mcp/removeServer"), send("tool/serverRemoved", {"name": "notes"})),
        *(send("tool/serverRemoved", {"name": "notes"}), reply("mcp/removeServer", {})),
    )
    nvim.wait_screen("no MCP servers: a adds one")
    nvim.keys("a")
    nvim.wait_screen("Name of the MCP server:")
    nvim.keys("notes<CR>")
    nvim.wait_screen("Its command line or url:")
    nvim.keys("nodee server.js<CR>")
    nvim.wait_screen("Where is it used")
    nvim.keys("2<CR>")
    screen = nvim.wait_screen("failed            notes").text()
    nvim.wait_screen("error=2, No such file or directory")
    assert "mcp of eca: 0 of 1 running" in screen
    nvim.keys("gg")
    nvim.wait_screen("<CR> details  s start  e edit config  g? keys")
    nvim.keys("c")
    nvim.wait_screen("Command line or url:")
    nvim.keys("<C-u>node server.js<CR>")
    nvim.wait_screen("running           notes              2 tools, 1 prompt")
    nvim.keys("<CR>")
    nvim.wait_screen("prompt   greet")
    assert lines(nvim)[1:4] == [
        "    tool     echo  Says what it hears",
        "    tool     image  ",
        "    prompt   greet  ",
    ]
    nvim.keys("jr")  # on a row of its details
    nvim.wait_screen("command  node")
    nvim.wait_until("require('eca').mcp()[2].status == 'running'")
    told = {"name": "notes", "server_name": "eca", "status": "running", "kind": "mcp", "tools": 2}
    assert nvim.lua("return require('eca').mcp()[2]") == told
    config = workspace / ".eca" / "config.json"
    config.parent.mkdir()
    config.write_text(json.dumps({"mcpServers": {"notes": {"command": "node"}}}, indent=2))
    nvim.keys("e")
    nvim.wait_until("vim.api.nvim_buf_get_name(0):find('.eca/config.json', 1, true)")
    assert nvim.lua("return vim.api.nvim_get_current_line()") == '    "notes": {'
    nvim.keys(":Eca mcp<CR>ggD")
    nvim.wait_screen("Remove the MCP server notes from the configuration?")
    nvim.keys("1<CR>")
    nvim.wait_screen("no MCP servers: a adds one")
    events = nvim.lua("return events")
    assert "notes failed" in events
    assert "notes restarting" in events
    assert events[-1] == "notes removed"


@pytest.mark.parametrize("columns", [80, 41])
@pytest.mark.either_nvim
def test_names_and_errors_of_others_are_only_text(
    start_nvim: StartNeovim, scripted_server: PrepareScript, columns: int
) -> None:
    bad = "\x1b[31m%{system('x')}\r\n\u202e vim: set ft=lua: " + "long " * 9
    nvim = start(
        *(
            start_nvim,
            scripted_server,
            state(bad, "running", tools=[{"name": bad, "description": bad}]),
        ),
        *(state("login", "requires-auth"), state("hangs", "starting")),
        columns=columns,
    )
    nvim.wait_until("vim.api.nvim_buf_line_count(0) == 4")
    nvim.keys("gg")
    nvim.keys("/system<CR><CR>")
    nvim.wait_until("vim.api.nvim_buf_line_count(0) == 6")
    assert not [line for line in lines(nvim) if "\x1b" in line or "\u202e" in line]
    nvim.keys("D")
    nvim.wait_screen("Remove the MCP server")
    nvim.keys("2<CR>")
    os.kill(nvim.lua("return require('eca.host').pid()"), signal.SIGKILL)
    nvim.wait_screen("not live, the plugin host")
    nvim.take_errors()
    assert nvim.lua("return require('eca').mcp()") == []
