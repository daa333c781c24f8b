"""The MCP server `editor` of a real Neovim, used by the official client through its bridge."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.support import acp_script as agent
from tests.support import processes
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.mcp_client import PATIENCE, connected
from tests.support.screen import Value
from tests.support.servers import ScriptedServer, scripted_acp
from tests.ui.talk import host_of
from tests.ui.test_editor_services import TOY_SERVER, finding, published

pytestmark = pytest.mark.anyio

SECRET = "Bearer of-a-secret"
OTHERS: Value = {
    "far": {"url": "https://example.com", "headers": {"X-Who": SECRET}},
    "old": {"url": "https://example.com", "type": "sse"},
    "lost": {"command": ["no-such-program"]},
}


def start(start_nvim: StartNeovim, server: ScriptedServer, mcp: Value) -> Neovim:
    servers = {"mine": {"command": server.command, "protocol": "acp", "mcp": mcp}}
    settings = {"server": "mine", "servers": servers, "log_level": "debug"}
    nvim = start_nvim(settings=settings, columns=120, lines=40)
    nvim.keys(":EcaChat<CR>")
    return nvim


def given(nvim: Neovim, server: ScriptedServer) -> dict[str, Value]:
    """Wait for the session of the chat; returns its MCP servers by name."""
    nvim.wait_for(lambda: server.received("session/new"), "a session")
    [made] = server.received("session/new")
    return {it["name"]: it for it in made["params"]["mcpServers"]}


def command_of(told: Value) -> list[str]:
    """Return the command by which an agent starts a server."""
    return [told["command"], *told["args"]]


@pytest.mark.either_nvim
async def test_an_agent_sees_what_the_editor_knows(start_nvim: StartNeovim, tmp_path: Path) -> None:
    can = agent.handshake(agentCapabilities={"mcpCapabilities": {"http": True}})
    server = scripted_acp([*can, *agent.session()], tmp_path / "agent")
    nvim = start(start_nvim, server, {"editor": True, **OTHERS})
    folder = nvim.launch.cwd
    path, readme = folder / "src" / "calc.py", folder / "README.md"
    nvim.lua(TOY_SERVER, str(path))
    published(nvim, path, finding("bad name", 1, 2, source="lint", code="E1"))
    outside = tmp_path / "outside.txt"
    outside.write_text("secret\n")
    published(nvim, outside, finding("nobody's business"))
    nvim.lua("vim.cmd.badd(...)", str(outside))
    nvim.lua("vim.cmd.badd(...)", str(path))
    nvim.lua("local win = vim.fn.win_getid(1) vim.api.nvim_set_current_win(win)")
    nvim.keys(f"<Esc>:edit {readme}<CR>2GA more<Esc>")

    mcp = given(nvim, server)
    assert [*mcp] == ["editor", "far"]
    assert mcp["far"]["headers"] == [{"name": "X-Who", "value": SECRET}]
    nvim.wait_until("vim.fn.execute('messages'):find('servers.mine.mcp.lost is left out')")
    messages = nvim.lua("return vim.fn.execute('messages')")
    assert "servers.mine.mcp.old is left out: the agent takes none of the type sse" in messages

    async with connected(command_of(mcp["editor"])) as client:
        diagnosed = "src/calc.py:2:2: warning: bad name [lint E1]"
        assert await client.call("diagnostics") == diagnosed
        assert await client.call("diagnostics", path="src/calc.py") == diagnosed
        assert await client.call("diagnostics", path="README.md") == "no diagnostics"
        assert "nobody's business" in await client.call("diagnostics", path=str(outside))
        opened = (await client.call("open_buffers")).split("\n")
        assert opened[0] == "README.md:2 (visible) (modified)"
        assert opened[1].startswith("src/calc.py:1")
        assert not any("outside" in it for it in opened)
        place = {"path": "src/calc.py", "line": 9, "symbol": "add"}
        found = await client.call("definition", **place)
        while found.startswith("error: the language server is starting"):
            found = await client.call("definition", **place)
        assert found == "src/calc.py:5:5"
        assert nvim.lua("return _G.asked.position") == {"line": 8, "character": 6}
        assert await client.call("references", **place) == "src/calc.py:5:5"
        assert await client.call("references", path="README.md", line=2, symbol="more") == (
            "error: the editor has no language server for this file"
        )
        assert (await client.call("definition", path="/etc/passwd", line=1, column=1)).startswith(
            "error: neither in the workspace nor open in the editor"
        )
    log = nvim.lua("return table.concat(vim.fn.readfile(require('eca.host.log').path()), '\\n')")
    assert "mcpServers" in log
    assert SECRET not in log


@pytest.mark.whole_start
async def test_our_server_goes_with_neovim_and_is_off_unless_it_is_named(
    start_nvim: StartNeovim, tmp_path: Path
) -> None:
    steps = [*agent.handshake(), *agent.session()]
    off = scripted_acp(steps, tmp_path / "off")
    assert given(start(start_nvim, off, {"editor": False}), off) == {}
    on = scripted_acp(steps, tmp_path / "on")
    nvim = start(start_nvim, on, {"editor": True})
    told = given(nvim, on)["editor"]
    assert (told["command"], told["args"][:2]) == (sys.executable, ["-I", "-S"])
    socket = Path(told["args"][-1])
    async with connected(command_of(told)) as client:
        assert await client.call("diagnostics") == "no diagnostics"
        host = host_of(nvim)
        nvim.quit()
    assert not processes.wait_gone([host], PATIENCE)
    assert not socket.parent.exists()
