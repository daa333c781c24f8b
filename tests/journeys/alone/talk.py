"""A conversation with a real agent without the plugin: what it does by itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any, Self, TypeAlias

from tests.journeys.agents import RealAgent
from tests.journeys.script import scripted

from eca_nvim.agents.acp.setup import introduction
from eca_nvim.protocol.acp import encode

Table: TypeAlias = dict[str, Any]
PATIENCE = 60
EMPTY: Table = {"result": {"content": ""}}
REFUSED = {"code": -32603, "message": "the user does not allow it"}


class Talk:
    """Says no to all that the agent asks.

    allows: it allows what is asked once, and writes files. missing: the answer for a file that is
    not there.
    """

    def __init__(
        self, agent: RealAgent, folder: Path, *, allows: bool = False, missing: Table = EMPTY
    ) -> None:
        self._allows = allows
        self._missing = missing
        self.info: Table = {}
        self._folder = folder
        self._process = subprocess.Popen(
            agent.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=dict(agent.env),
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._kill()
        self._process.communicate()

    def begin(self) -> Table:
        """Introduce the plugin, and open a session; return what the agent tells of it."""
        self.info = self.ask("initialize", encode(introduction())).get("agentInfo") or {}
        return self.ask("session/new", {"cwd": str(self._folder), "mcpServers": []})

    def prompt(self, session_id: str, *steps: Table) -> None:
        """Send a prompt with a script for the model, and wait for the end of its turn."""
        text = f"go\n{scripted(*steps)}"
        prompt = [{"type": "text", "text": text}]
        self.ask("session/prompt", {"sessionId": session_id, "prompt": prompt})

    def ask(self, method: str, params: object) -> Table:
        """Send a request and return its result."""
        watch = threading.Timer(PATIENCE, self._kill)
        watch.start()
        try:
            self._send({"id": method, "method": method, "params": params})
            return self._result(method)
        finally:
            watch.cancel()

    def _result(self, method: str) -> Table:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line) if line.startswith(b"{") else {}
            if "method" in message and "id" in message:
                self._send({"id": message["id"], **self._reply(message)})
            elif message.get("id") == method:
                assert "result" in message, f"{method}: {message['error']}"
                result: Table = message["result"]
                return result
        raise AssertionError(f"no answer to {method} within {PATIENCE} s")

    def _reply(self, request: Table) -> Table:
        """Say no; what a file holds may be read."""
        match request["method"]:
            case "session/request_permission":
                return self._choose(request, "allow_once" if self._allows else "reject_once")
            case "fs/read_text_file":
                path = Path(request["params"]["path"])
                return {"result": {"content": path.read_text()}} if path.exists() else self._missing
            case "fs/write_text_file" if self._allows:
                Path(request["params"]["path"]).write_text(request["params"]["content"])
                return {"result": {}}
            case _:
                return {"error": REFUSED}

    @staticmethod
    def _choose(request: Table, kind: str) -> Table:
        offers = request["params"]["options"]
        chosen = next(it["optionId"] for it in offers if it["kind"] == kind)
        return {"result": {"outcome": {"outcome": "selected", "optionId": chosen}}}

    def _send(self, message: Table) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def _kill(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
