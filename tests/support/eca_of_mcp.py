"""A fake ECA server that runs real MCP servers, as today's server does (eca-today, "mcp/*").

Its configuration is `$XDG_CONFIG_HOME/eca/config.json`. What it tells of a server is what the real
one tells: twice `running`, nothing of one that dies later, a reason for a failure only on standard
error, and a second start by the watcher of the configuration after each change there. A prompt
`SERVER TOOL {"argument": …}` calls a tool.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from tests.support.wire import Wire

if TYPE_CHECKING:
    from anyio.abc import TaskGroup
    from mcp import Client

MODELS = {"models": ["mock/mock-1"], "selectModel": "mock/mock-1", "agents": ["code"]}
CONFIG = Path(os.environ["XDG_CONFIG_HOME"]) / "eca" / "config.json"
NATIVE: dict[str, Any] = {"type": "native", "name": "ECA", "status": "running"}
NATIVE |= {"tools": [{"name": "read_file", "description": "Read a file"}]}


class McpServer:
    """One MCP server of the configuration."""

    def __init__(self, eca: Eca, name: str, options: dict[str, Any]) -> None:
        self._eca, self.name, self.options = eca, name, options
        self.client: Client | None = None
        self._scope: anyio.CancelScope | None = None
        self._stopped = anyio.Event()
        self.tools: list[dict[str, Any]] = []

    def tell(self, status: str, **more: object) -> None:
        """Tell the client how it is."""
        told: dict[str, Any] = {
            "name": self.name,
            "type": "mcp",
            "status": status,
            "url": None,
            "tools": [],
        }
        told |= {"command": None, "args": None, "prompts": None, "resources": None}
        told |= {"disabled": bool(self.options.get("disabled")), "hasAuth": False}
        told |= {
            key: self.options[key] for key in ("command", "args", "url") if key in self.options
        }
        self._eca.notify("tool/serverUpdated", {**told, **more})

    async def start(self) -> None:
        """Start it, and stay until it is stopped."""
        if self._scope is not None:
            return
        self._stopped = anyio.Event()
        with anyio.CancelScope() as self._scope:
            self.tell("starting")
            try:
                await self._run()
            except Exception as fault:  # noqa: BLE001 - of any program of the configuration
                line = f"[MCP] Could not initialize MCP server {self.name}: {_first(fault)}"
                print(line, file=sys.stderr, flush=True)  # noqa: T201
                self.tell("failed")
        self.client = self._scope = None
        self._stopped.set()

    async def _run(self) -> None:
        from mcp import Client, StdioServerParameters

        program = StdioServerParameters(
            command=self.options["command"], args=self.options.get("args") or []
        )
        async with Client(program, mode="legacy") as client:
            listed = (await client.list_tools()).tools
            self.tools = [{"name": it.name, "description": it.description} for it in listed]
            self.client = client
            self.tell("running", tools=self.tools)
            self.tell("running", tools=self.tools, prompts=[], resources=[])
            await anyio.sleep_forever()

    async def stop(self) -> None:
        """Stop it."""
        if self._scope is not None:
            self.tell("stopping", tools=self.tools)
            self._scope.cancel()
            await self._stopped.wait()
            self.tell("stopped", tools=self.tools)


class Eca:
    """The server."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks, self._wire = tasks, Wire()
        self._calls: dict[str, anyio.CancelScope] = {}
        known = json.loads(CONFIG.read_text())["mcpServers"] if CONFIG.exists() else {}
        self.servers = {name: McpServer(self, name, options) for name, options in known.items()}

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self._wire.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def serve(self) -> None:
        """Handle messages until the client says exit or is gone."""
        while (message := await anyio.to_thread.run_sync(self._wire.receive)) is not None:
            if message.get("method") == "exit":
                break
            if "method" in message:
                self._tasks.start_soon(self._handle, message)
        self._tasks.cancel_scope.cancel()

    async def _handle(self, message: dict[str, Any]) -> None:
        method, params = message["method"], message.get("params") or {}
        table: dict[str, Callable[[dict[str, Any]], Awaitable[object]]] = {
            "initialize": self._initialize,
            "initialized": self._initialized,
            "chat/prompt": self._prompt,
            "chat/promptStop": self._stop_call,
            "mcp/addServer": self._change,
            "mcp/updateServer": self._change,
            "mcp/removeServer": self._remove,
            "mcp/startServer": partial(self._of, "start"),
            "mcp/stopServer": partial(self._of, "stop"),
            "mcp/enableServer": partial(self._enable, disabled=False),
            "mcp/disableServer": partial(self._enable, disabled=True),
        }
        act = table.get(method)
        if act is None:
            if "id" in message:
                self._wire.answer_by_default(message)
            return
        try:
            answer = {"result": await act(params)}
        except ValueError as fault:
            answer = {"error": {"code": "invalid_request", "message": str(fault)}}
        if "id" in message:
            self._wire.send({"jsonrpc": "2.0", "id": message["id"], **answer})

    async def _initialize(self, _: dict[str, Any]) -> object:
        return {"chatWelcomeMessage": "Hello."}

    async def _initialized(self, _: dict[str, Any]) -> None:
        self.notify("config/updated", {"chat": MODELS})
        self.notify("tool/serverUpdated", NATIVE)
        for server in self.servers.values():
            if server.options.get("disabled"):
                server.tell("disabled")
            else:
                self._tasks.start_soon(server.start)

    # --- mcp/* ------------------------------------------------------------------------------------

    async def _of(self, act: str, params: dict[str, Any]) -> None:
        server = self.servers.get(params["name"])
        if server is None:
            return  # as the real one: nothing
        if act == "start":
            self._tasks.start_soon(server.start)
        else:
            await server.stop()

    async def _change(self, params: dict[str, Any]) -> object:
        """Add a server or change one, write it down, and start it: twice, as it is watched."""
        name = params.pop("name")
        params.pop("scope", None)
        if name in self.servers and "command" not in params and "url" not in params:
            raise ValueError(f"MCP server '{name}' must specify :command (stdio) or :url (HTTP)")
        server = self.servers.setdefault(name, McpServer(self, name, {}))
        server.options |= {key: value for key, value in params.items() if value is not None}
        self._write()
        for _ in range(2):
            await server.stop()
            self._tasks.start_soon(server.start)
            await anyio.sleep(0.05)
        return {"server": {"name": name, "status": "starting", "tools": None}}

    async def _remove(self, params: dict[str, Any]) -> object:
        server = self.servers.pop(params["name"], None)
        if server is None:
            raise ValueError(f"MCP server '{params['name']}' not found")
        await server.stop()
        self._write()
        self.notify("tool/serverRemoved", {"name": server.name})
        self._tasks.start_soon(self._removed_again, server.name)
        return {"name": server.name, "removed": True}

    async def _removed_again(self, name: str) -> None:
        self.notify("tool/serverRemoved", {"name": name})

    async def _enable(self, params: dict[str, Any], *, disabled: bool) -> None:
        server = self.servers[params["name"]]
        server.options["disabled"] = disabled
        self._write()
        await server.stop()
        if disabled:
            server.tell("disabled")
        else:
            self._tasks.start_soon(server.start)

    def _write(self) -> None:
        CONFIG.parent.mkdir(parents=True, exist_ok=True)
        servers = {name: server.options for name, server in self.servers.items()}
        CONFIG.write_text(json.dumps({"mcpServers": servers}, indent=2))

    # --- chat/* -----------------------------------------------------------------------------------

    async def _prompt(self, params: dict[str, Any]) -> object:
        chat = params["chatId"]
        self._tasks.start_soon(self._call, chat, params["message"])
        return {"chatId": chat, "model": "mock/mock-1", "status": "prompting"}

    async def _call(self, chat: str, message: str) -> None:
        name, tool, arguments = message.split(" ", 2)
        call: dict[str, Any] = {"id": "call-1", "name": tool, "server": name, "origin": "mcp"}
        call["arguments"] = json.loads(arguments)
        self._say(chat, {"type": "toolCallRun", "manualApproval": False, **call})
        self._say(chat, {"type": "toolCallRunning", **call})
        with anyio.CancelScope() as self._calls[chat]:
            client = self.servers[name].client
            assert client is not None
            with suppress(anyio.ClosedResourceError):
                result = await client.call_tool(tool, call["arguments"])
                texts = [{"type": "text", "text": getattr(it, "text", "")} for it in result.content]
                called = {"type": "toolCalled", "error": False, "outputs": texts, **call}
                self._say(chat, called)
        self._say(chat, {"type": "progress", "state": "finished"})

    async def _stop_call(self, params: dict[str, Any]) -> None:
        if params["chatId"] in self._calls:
            self._calls[params["chatId"]].cancel()

    def _say(self, chat: str, content: dict[str, Any]) -> None:
        told = {"chatId": chat, "role": "assistant", "content": content}
        self.notify("chat/contentReceived", told)


def _first(fault: BaseException) -> BaseException:
    """Return the fault inside groups of faults."""
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    return fault


async def main() -> None:
    """Serve on standard input and output."""
    async with anyio.create_task_group() as tasks:
        await Eca(tasks).serve()


if __name__ == "__main__":
    anyio.run(main)
