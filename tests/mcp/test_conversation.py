"""The protocol of the MCP server `editor`, message by message."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest
from tests.agents.client import FakeEditor

from eca_nvim.mcp import editor_socket
from eca_nvim.mcp.editor_socket import LONGEST_REQUEST, MOST_CALLS, Conversation
from eca_nvim.mcp.tools import EditorTools

pytestmark = pytest.mark.anyio


class Client(asyncio.Transport):
    """Sends messages, and keeps the answers."""

    def __init__(self, editor: FakeEditor, connected: socket.socket) -> None:
        super().__init__({"socket": connected})
        self.answers: list[Any] = []
        self._arrived = anyio.Event()
        self.conversation = Conversation(EditorTools(editor, ("/w",)), set())
        self.conversation.connection_made(self)

    def is_closing(self) -> bool:
        return False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        text = bytes(data)
        assert text.endswith(b"\n")
        self.answers += map(json.loads, text.splitlines())
        self._arrived.set()

    def send(self, message: object) -> None:
        self.conversation.data_received(json.dumps(message).encode() + b"\n")

    def request(self, request_id: object, method: str, **params: object) -> None:
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})

    def notify(self, method: str, **params: object) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def call(self, request_id: object, name: str = "diagnostics", **arguments: object) -> None:
        self.request(request_id, "tools/call", name=name, arguments=arguments)

    async def until(self, condition: Callable[[], object]) -> None:
        with anyio.fail_after(20):
            while not condition():
                self._arrived = anyio.Event()
                await self._arrived.wait()

    @property
    def answered(self) -> list[object]:
        return [it["id"] for it in self.answers]


@pytest.fixture
def editor() -> FakeEditor:
    return FakeEditor()


@pytest.fixture
def client(editor: FakeEditor) -> Iterator[Client]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        client = Client(editor, ours)
        yield client
        client.conversation.connection_lost(None)


@pytest.mark.parametrize(
    ("wanted", "spoken"),
    [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2024-11-05", "2024-11-05"),
        ("2099-01-01", "2025-11-25"),
        (7, "2025-11-25"),
    ],
)
async def test_the_version_is_the_agents_or_our_latest(
    client: Client, wanted: object, spoken: str
) -> None:
    client.request(1, "initialize", protocolVersion=wanted, capabilities={}, clientInfo={})
    client.notify("notifications/initialized")
    client.request("two", "ping")
    [introduced, pong] = client.answers
    assert introduced["result"]["protocolVersion"] == spoken
    assert introduced["result"]["serverInfo"]["name"] == "editor"
    assert introduced["result"]["capabilities"] == {"tools": {}}
    assert pong == {"jsonrpc": "2.0", "id": "two", "result": {}}


async def test_all_tools_are_listed_with_what_they_take(client: Client) -> None:
    client.request(0, "tools/list")
    [answer] = client.answers
    takes = {it["name"]: it["inputSchema"] for it in answer["result"]["tools"]}
    assert [*takes] == ["diagnostics", "definition", "references", "open_buffers"]
    assert all(it["type"] == "object" for it in takes.values())
    assert takes["definition"]["required"] == ["path", "line"]
    assert [*takes["definition"]["properties"]] == ["path", "line", "symbol", "column"]
    assert all(it["annotations"]["readOnlyHint"] for it in answer["result"]["tools"])


async def test_what_is_not_known_is_refused(client: Client) -> None:
    client.request(1, "server/discover")
    client.request(2, "resources/list")
    client.call(3, "write_file", path="a")
    client.send([{"jsonrpc": "2.0", "id": 4, "method": "ping"}])
    client.conversation.data_received(b"{nonsense\n")
    client.conversation.data_received(b"x" * (LONGEST_REQUEST + 1) + b"\n")
    client.send({"jsonrpc": "2.0", "id": 9, "result": {}})
    client.notify("notifications/unknown")
    await client.until(lambda: 3 in client.answered)
    codes = [(it["id"], it["error"]["code"]) for it in client.answers]
    assert sorted(codes, key=str) == [
        (1, -32601), (2, -32601), (3, -32602), (None, -32600), (None, -32600), (None, -32700),
    ]  # fmt: skip


async def test_faults_of_a_call_are_results_for_the_model(
    client: Client, editor: FakeEditor, caplog: pytest.LogCaptureFixture
) -> None:
    client.call(1, path=7)
    client.request(2, "tools/call", name="diagnostics")
    await client.until(lambda: len(client.answers) == 2)
    wrong, right = (it["result"] for it in sorted(client.answers, key=lambda it: int(it["id"])))
    assert wrong["isError"]
    assert wrong["content"] == [
        {"type": "text", "text": "wrong arguments: Expected `str`, got `int` - at `$.path`"}
    ]
    assert right == {"content": [{"type": "text", "text": "no diagnostics"}], "isError": False}
    editor.fault = RuntimeError("a bug")
    client.call(3)
    await client.until(lambda: len(client.answers) == 3)
    failed = client.answers[-1]["result"]
    assert (failed["isError"], failed["content"][0]["text"]) == (True, editor_socket.NO_ANSWER)
    assert "a bug" in caplog.text


async def test_a_cancelled_call_gets_no_answer_and_its_id_is_free(
    client: Client, editor: FakeEditor
) -> None:
    editor.gate = anyio.Event()
    client.call("a")
    client.call("b")
    await anyio.wait_all_tasks_blocked()
    client.notify("notifications/cancelled", requestId="a", reason="no need")
    client.notify("notifications/cancelled", requestId="a")
    client.notify("notifications/cancelled", requestId="c")
    client.notify("notifications/cancelled", requestId={})
    client.request("a", "ping")
    editor.gate.set()
    await client.until(lambda: "b" in client.answered)
    assert client.answered == ["a", "b"]
    assert client.answers[0]["result"] == {}


async def test_calls_at_a_time_are_bounded_and_end_with_the_connection(
    client: Client, editor: FakeEditor
) -> None:
    editor.gate = anyio.Event()
    for number in range(MOST_CALLS + 1):
        client.call(number)
    [busy] = client.answers
    assert (busy["id"], busy["result"]["isError"]) == (MOST_CALLS, True)
    assert busy["result"]["content"][0]["text"] == editor_socket.BUSY
    await anyio.wait_all_tasks_blocked()
    client.conversation.connection_lost(None)
    editor.gate.set()
    await anyio.wait_all_tasks_blocked()
    assert len(client.answers) == 1
