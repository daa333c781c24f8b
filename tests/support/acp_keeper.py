"""An agent that keeps its sessions in a folder and answers every prompt.

`python acp_keeper.py FOLDER [METHOD …] [WHEN]`: it announces the methods `session/METHOD` of all
that it has, and does not know those that are named here. It replays a session that it loads; WHEN:
each that it opens again, `early`, before its answer, `late`, after it, or `twice`, both.

A prompt gets the answer "reply N to: TEXT", where N counts the prompts of the session; `hang` is
begun and not ended. FOLDER has a JSON file for each session, and `report` a line for each message.
Who opens a session learns its modes: each begins in the first again.
"""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.support.acp_link import Connection, Refused, Value, not_found

REPLAYS = {"early": (True, False), "late": (False, True), "twice": (True, True)}
METHODS = ("list", "resume", "fork", "delete", "close")
MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask me"}, {"id": "plan", "name": "Plan first"}],
}


def _chunk(variant: str, text: str) -> Value:
    return {"sessionUpdate": variant, "content": {"type": "text", "text": text}}


class Keeper:
    """The agent on a connection."""

    def __init__(self, folder: Path, unknown: list[str]) -> None:
        self._folder = folder
        self._unknown = {f"session/{name}" for name in unknown}
        self._replays = next((REPLAYS[name] for name in unknown if name in REPLAYS), None)
        self._late: asyncio.Task[None]
        self.connection: Connection

    async def handle(self, method: str, params: Value, is_notification: bool) -> Value:
        """Handle a message of the client (`acp_link.Handler`)."""
        with (self._folder / "report").open("a") as report:
            report.write(json.dumps({"method": method, "params": params}) + "\n")
        if is_notification:
            return None
        if method in self._unknown:
            raise not_found(method)
        return self._known(method, params) or await self._in_session(method, params)

    def _known(self, method: str, params: Value) -> Value:
        """Answer what needs no session."""
        match method:
            case "initialize":
                can = {"loadSession": True, "sessionCapabilities": {name: {} for name in METHODS}}
                return {"protocolVersion": 1, "agentCapabilities": can}
            case "session/new":
                return {"sessionId": self._make(params["cwd"], []), "modes": MODES}
            case "session/list":
                return {"sessions": [*self._listed()]}
        return None

    async def _in_session(self, method: str, params: Value) -> Value:
        session_id = params["sessionId"]
        kept = self._read(session_id)
        match method:
            case "session/fork":
                return {"sessionId": self._make(kept["cwd"], kept["said"])}
            case "session/load" | "session/resume":
                early, late = self._replays or (method == "session/load", False)
                if early:
                    await self._replay(session_id, kept)
                if late:
                    self._late = asyncio.create_task(self._replay(session_id, kept, 0.05))
                return {"modes": MODES}
            case "session/delete":
                path = self._path(session_id)
                path.rename(path.with_suffix(".gone"))  # no other session gets its id
            case "session/prompt":
                await self._answer(session_id, kept, [it["text"] for it in params["prompt"]])
                return {"stopReason": "end_turn"}
        return {}

    async def _replay(self, session_id: str, kept: Value, after: float = 0) -> None:
        """Send what was said; after: in s, so that the answer is sent before."""
        await asyncio.sleep(after)
        for update in kept["said"]:
            await self._send(session_id, update)

    async def _answer(self, session_id: str, kept: Value, texts: list[str]) -> None:
        """Answer a prompt of some texts, which are replayed unchanged."""
        text = texts[-1]
        number = sum(it["sessionUpdate"] == "agent_message_chunk" for it in kept["said"]) + 1
        answer = _chunk("agent_message_chunk", f"reply {number} to: {text}")
        kept["said"] += [*(_chunk("user_message_chunk", it) for it in texts), answer]
        self._path(session_id).write_text(json.dumps(kept))
        await self._send(session_id, answer)
        if text == "hang":
            await asyncio.Event().wait()

    async def _send(self, session_id: str, update: Value) -> None:
        message = {"sessionId": session_id, "update": update}
        await self.connection.send_notification("session/update", message)

    def _make(self, cwd: str, said: Value) -> str:
        made = self._folder / f"made-{os.getpid()}"
        made.write_text(json.dumps({"cwd": cwd, "said": said}))
        while True:  # another process may make one now
            session_id = f"kept-{len([*self._folder.glob('kept-*')]) + 1}"
            with suppress(FileExistsError):
                self._path(session_id).hardlink_to(made)
                made.unlink()
                return session_id

    def _listed(self) -> Iterator[Value]:
        for number, path in enumerate(sorted(self._folder.glob("*.json"))):
            kept = json.loads(path.read_text())
            if kept["said"]:
                title, when = kept["said"][0]["content"]["text"], f"2026-01-01T00:00:{number:02}Z"
                facts = {"cwd": kept["cwd"], "title": title, "updatedAt": when}
                yield {"sessionId": path.stem, **facts}

    def _read(self, session_id: str) -> Value:
        path = self._path(session_id)
        if not path.exists():
            raise Refused(-32002, f"no session {session_id}")
        return json.loads(path.read_text())

    def _path(self, session_id: str) -> Path:
        return self._folder / f"{session_id}.json"


async def serve(folder: Path, unknown: list[str]) -> None:
    """Serve on standard input and output until it ends."""
    agent = Keeper(folder, unknown)
    agent.connection = Connection(agent.handle)
    await agent.connection.serve()


def main() -> None:
    """Run as a script: `acp_keeper.py FOLDER [METHOD…]`, without these methods."""
    asyncio.run(serve(Path(sys.argv[1]), sys.argv[2:]))
