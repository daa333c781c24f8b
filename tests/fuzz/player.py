"""The server of a fuzzed plugin: at each prompt it says what a file of its folder has for that run.

Run as `player.py eca|acp FOLDER`. The prompt "run 7" plays `run-7.json`, any other is answered by
its own text. However odd a run is, it ends as a real server ends a turn, and `journal` gets a line
when all of it was said. `initialize.json` and `session-new.json` answer one such request.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any, TypeAlias

from tests.support.script import CONFIG, MODEL
from tests.support.wire import LineWire, Message, Wire

Value: TypeAlias = Any

RUN = re.compile(r"run \d+")
CHAT = "$chat"
"""Stands for the chat of the prompt."""
SESSION = "$session"
"""Stands for the id of a new session."""
REWRITE = "$rewrite"
"""Stands for the id of a rewrite."""
WAITING = 0.05
"""Seconds in which the client may answer, where the recorded one did."""
CAPABILITIES = {"loadSession": True, "sessionCapabilities": {"delete": {}, "list": {}}}
FIRST = {
    "initialize": {"protocolVersion": 1, "agentCapabilities": CAPABILITIES},
    **{name: {} for name in ("session/delete", "session/set_mode", "session/set_config_option")},
    **{name: {} for name in ("chat/delete", "chat/clear", "chat/update", "session/set_model")},
}
"""Answers that no run replaces: else the next one cannot begin."""


class Server:
    """One life of a server."""

    def __init__(self, folder: Path, wire: Wire, *, is_acp: bool) -> None:
        self._folder, self._wire, self._is_acp = folder, wire, is_acp
        self._answers: dict[str, list[Message]] = {}
        self._rewrites: list[Message] = []
        self._waiting: list[Message] = []
        self._sessions = 0

    def serve(self) -> None:
        """Serve until the client leaves."""
        while not self._wire.closed:
            while self._waiting:
                self._prompt(self._waiting.pop(0))
            if message := self._wire.receive():
                self._hear(message)

    def _hear(self, message: Message) -> None:
        method = message.get("method")
        if method == "exit":
            sys.exit(0)
        if method == "initialized":
            self._tell("config/updated", CONFIG)
        elif method in ("chat/prompt", "session/prompt"):
            self._waiting.append(message)
        elif method is not None and "id" in message:
            self._answer(message)
            if method == "rewrite/prompt":
                for each in renamed(self._rewrites, REWRITE, message["params"]["id"]):
                    self._send(each["message"])

    def _answer(self, request: Message) -> None:
        """Answer as a file says, the first time, or as the run does."""
        method = request["method"]
        self._sessions += method == "session/new"
        session = f"s{self._sessions}"
        odd = self._folder / f"{method.replace('/', '-')}.json"
        if odd.exists():
            answer = renamed(json.loads(odd.read_text()), SESSION, session)
            odd.unlink()
            self._send({"id": request["id"], **answer})
        elif method == "session/new":
            self._send({"id": request["id"], "result": {"sessionId": session}})
        elif method in FIRST:
            self._send({"id": request["id"], "result": FIRST[method]})
        elif answers := self._answers.get(method):
            self._send({"id": request["id"], **answers.pop(0)})
        else:
            self._wire.answer_by_default(request)

    def _prompt(self, prompt: Message) -> None:
        params = prompt["params"]
        chat = params["sessionId" if self._is_acp else "chatId"]
        words = params["prompt"][0]["text"] if self._is_acp else params["message"]
        lines = words.strip().split("\n")  # with what was said before, and contexts
        text = next(filter(RUN.fullmatch, reversed(lines)), lines[-1])
        file = self._folder / f"{text.replace(' ', '-')}.json"
        if not RUN.fullmatch(text):
            self._begin(prompt["id"], chat)
            self._say(chat, f"the answer to {text}")
            self._end(prompt["id"], chat)
            return
        run = json.loads(file.read_text())
        self._answers, self._rewrites = run["answers"], run["rewrites"]
        said = [_as_own(it, text) for it in renamed(run["said"], CHAT, chat)]
        answer = self._play(said, prompt["id"])
        self._end(prompt["id"], chat, answer)
        with (self._folder / "journal").open("a") as journal:
            journal.write(f"{text}\n")

    def _play(self, said: list[Message], number: Value) -> Message | None:
        """Say all of a run; return the answer to the prompt, unless it was said already."""
        is_open, answer = True, None
        for each in said:
            if "wait" in each:
                while message := self._wire.receive(WAITING):
                    self._hear(message)
            elif "answer" not in each:
                self._wire.write(self._wire.frame(json.dumps(each["message"])))
            elif self._is_acp:
                answer = each["answer"]  # it ends the turn
            elif is_open:
                is_open = False
                self._send({"id": number, **each["answer"]})
        return answer if is_open else {}

    def _begin(self, number: Value, chat: str) -> None:
        if not self._is_acp:
            result = {"chatId": chat, "model": MODEL, "status": "prompting"}
            self._tell("chat/statusChanged", {"chatId": chat, "status": "running"})
            self._send({"id": number, "result": result})

    def _say(self, chat: str, text: str) -> None:
        content = {"type": "text", "text": text}
        if self._is_acp:
            update = {"sessionUpdate": "agent_message_chunk", "content": content}
            self._tell("session/update", {"sessionId": chat, "update": update})
        else:
            told = {"chatId": chat, "role": "assistant", "content": content}
            self._tell("chat/contentReceived", told)

    def _end(self, number: Value, chat: str, answer: Message | None = None) -> None:
        """End a turn; `answer`: what the prompt is answered by, {} if it has its answer."""
        if self._is_acp:
            self._send({"id": number, **(answer or {"result": {"stopReason": "end_turn"}})})
            return
        if answer is None:
            self._begin(number, chat)
        ended = {"type": "progress", "state": "finished"}
        self._tell("chat/statusChanged", {"chatId": chat, "status": "idle"})
        self._tell("chat/contentReceived", {"chatId": chat, "role": "system", "content": ended})
        self._tell("config/updated", CONFIG)

    def _tell(self, method: str, params: Value) -> None:
        self._send({"method": method, "params": params})

    def _send(self, message: Message) -> None:
        self._wire.write(self._wire.frame(json.dumps({"jsonrpc": "2.0", **message})))


def _as_own(said: Message, text: str) -> Message:
    """Give a request an id of its run: what is open of an earlier one has its own."""
    message = said.get("message")
    if message and "method" in message and isinstance(message.get("id"), (int, str)):
        message["id"] = f"{text} {message['id']}"
    return said


def renamed(value: Value, old: str, new: str) -> Value:
    """Return a value in which a text that is all of a field is another."""
    if isinstance(value, dict):
        return {key: renamed(item, old, new) for key, item in value.items()}
    if isinstance(value, list):
        return [renamed(item, old, new) for item in value]
    return new if value == old else value


def main() -> None:
    """Run as a program."""
    protocol, folder = sys.argv[1:3]
    is_acp = protocol == "acp"
    Server(Path(folder), LineWire() if is_acp else Wire(), is_acp=is_acp).serve()
