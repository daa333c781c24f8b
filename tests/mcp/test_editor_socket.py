"""The MCP server `editor` through its socket, with real bridges and the official client."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from shutil import rmtree

import anyio
import pytest
from anyio.abc import Process
from tests.agents.client import FakeEditor
from tests.support.mcp_client import PATIENCE, connected

from eca_nvim.agents.base import Diagnostic
from eca_nvim.mcp import bridge, editor_socket
from eca_nvim.mcp.editor_socket import EditorSocket

pytestmark = pytest.mark.anyio

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
PONG = b'{"jsonrpc":"2.0","id":1,"result":{}}\n'


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[EditorSocket]:
    found = Diagnostic(str(tmp_path / "ä b.py"), 0, 0, 0, 1, "error", "ünknown 😀")
    server = EditorSocket(FakeEditor(found=[found]), (str(tmp_path),))
    with anyio.fail_after(PATIENCE):
        yield server
    server.close()
    await anyio.wait_all_tasks_blocked()


def mode(path: Path) -> int | None:
    """Return the permissions of a path, None if there is nothing."""
    return stat.S_IMODE(path.stat().st_mode) if path.exists() else None


async def start(server: EditorSocket) -> Process:
    """Start a bridge, and check that it works."""
    process = await anyio.open_process(server.command())
    await ping(process)
    return process


async def ping(process: Process) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    await process.stdin.send(PING)
    answer = b""
    while len(answer) < len(PONG):
        answer += await process.stdout.receive()
    assert answer == PONG


async def test_the_official_client_uses_our_tools(server: EditorSocket) -> None:
    async with connected(server.command()) as client:
        assert await client.tools() == ["diagnostics", "definition", "references", "open_buffers"]
        assert await client.call("diagnostics") == "ä b.py:1:1: error: ünknown 😀"
        assert await client.call("diagnostics", path="/etc/passwd") == (
            "error: neither in the workspace nor open in the editor: '/etc/passwd'"
        )


async def test_a_host_has_one_socket_which_only_the_user_can_open(server: EditorSocket) -> None:
    command = server.command()
    path = Path(command[-1])
    assert server.command() == command
    assert [mode(path), mode(path.parent)] == [0o600, 0o700]
    async with await start(server) as first:
        rmtree(path.parent)
        async with await start(server):
            assert server.command() != command
            await ping(first)
    last = Path(server.command()[-1]).parent
    server.close()
    assert mode(last) is None


async def test_a_bridge_ends_when_either_side_ends(server: EditorSocket) -> None:
    first, second = await start(server), await start(server)
    assert first.stdin is not None
    await first.stdin.aclose()
    assert await first.wait() == 0
    await ping(second)
    server.close()
    assert await second.wait() == 0
    await first.aclose()
    await second.aclose()


async def test_not_more_than_some_connections_are_open(
    server: EditorSocket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editor_socket, "MOST_OPEN", 2)
    first, second = await start(server), await start(server)
    async with await anyio.connect_unix(server.command()[-1]) as third:
        with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
            await third.receive()
    await ping(first)
    second.terminate()
    await second.wait()
    first.terminate()
    await first.wait()


async def test_a_bridge_says_that_neovim_is_gone(server: EditorSocket) -> None:
    command = server.command()
    server.close()
    done = await anyio.run_process(command, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(b"eca: Neovim is gone, No such file or directory: /")


async def test_a_bridge_trusts_no_other_user(
    server: EditorSocket, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = server.command()[-1]
    monkeypatch.setattr(bridge, "peer_user", lambda _: os.geteuid() + 1)
    assert await anyio.to_thread.run_sync(bridge.bridge, path) == 1
    assert capsys.readouterr().err == f"eca: this socket is another user's: {path}\n"


async def test_another_user_is_refused(
    server: EditorSocket, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(editor_socket, "peer_user", lambda _: None)
    done = await anyio.run_process(server.command(), stdin=subprocess.PIPE, check=False)
    assert done.returncode == 0
    assert "refused a connection of another user" in caplog.text
