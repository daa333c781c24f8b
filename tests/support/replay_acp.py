"""Play a recorded session of a real ACP agent back to a live client, as if the agent spoke.

Each line of a recording is `{"t": seconds, "dir": …, "msg": …}`: at "c2a" the player waits for a
message of the same method (or the answer to the same request of the agent), at "a2c" it sends the
recorded message. "err" is standard error, "raw" are bytes on standard output. A "note" with `argv`
begins a life: a recording may have several processes of one agent.

Ids of requests and terminals and the working folder differ from run to run and are translated.
Requests that do not occur later in the recording are answered at once. The report is that of
`replay_server`.
"""

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from tests.support.recording import Event, Report
from tests.support.wire import METHOD_NOT_FOUND, LineWire, Message

Value: TypeAlias = Any

COMPARED = {
    "initialize": ("protocolVersion",),
    "session/new": ("cwd", "mcpServers"),
    "session/load": ("sessionId", "cwd", "mcpServers"),
    "session/resume": ("sessionId", "cwd", "mcpServers"),
    "session/fork": ("sessionId", "cwd", "mcpServers"),
    "session/prompt": ("sessionId", "prompt"),
    "session/cancel": ("sessionId",),
    "session/set_mode": ("sessionId", "modeId"),
    "session/set_model": ("sessionId", "modelId"),
    "session/set_config_option": ("sessionId", "configId", "value"),
    "session/request_permission": ("outcome",),
    "fs/read_text_file": ("content",),
    "terminal/output": ("output", "truncated"),
    "terminal/wait_for_exit": ("exitCode",),
}
"""What is compared: parameters of the client's messages, results of its answers to the agent's."""
POLITE = ("session/close", "session/delete", "session/set_mode", "authenticate", "logout")
"""Requests that are answered well although they were not recorded."""


class Folder:
    """Translates the recorded working folder to the live one, once the client has named it."""

    def __init__(self, events: list[Event]) -> None:
        folders = [_params(it.message).get("cwd") for it in events if it.direction == "c2s"]
        named = [it for it in folders if isinstance(it, str) and it.startswith("/")]
        self._recorded = named[0].rstrip("/") if named else None
        self._live = str(Path.cwd())

    def learn(self, recorded: Message, live: Message) -> None:
        """Learn the folder from what the client sends."""
        old, new = _params(recorded).get("cwd"), _params(live).get("cwd")
        if isinstance(old, str) and isinstance(new, str) and old.rstrip("/") == self._recorded:
            self._live = new.rstrip("/")

    def apply(self, value: Value) -> Value:
        """Return a recorded value with the live folder."""
        match value:
            case dict():
                return {key: self.apply(item) for key, item in value.items()}
            case list():
                return [self.apply(item) for item in value]
            case str() if self._recorded:
                return value.replace(self._recorded, self._live)
        return value


class Player:
    """Plays one life. `die`: exit with status 7 after so many messages."""

    def __init__(self, events: list[Event], wire: LineWire, options: argparse.Namespace) -> None:
        self._events, self._wire, self._options = events, wire, options
        self._held: list[Message] = []
        self._request_ids: dict[str, Value] = {}
        self._asked: dict[str, str] = {}  # methods of the agent's requests
        self._folder = Folder(events)
        self._terminals: dict[str, str] = {}  # live ids, by the recorded ones
        self._origin = (time.monotonic(), events[0].time if events else 0.0)
        self._position = self._sent = 0
        self.report = Report()

    def play(self) -> None:
        """Play the life, then answer until the client closes its end."""
        while self._position < len(self._events) and not self._wire.closed:
            event = self._events[self._position]
            if event.direction == "c2s":
                self._listen(event)
            else:
                self._speak(event)
            self._position += not self._wire.closed
        while not self._wire.closed:
            if message := self._wire.receive():
                self._answer_unexpected(message)

    def final_report(self) -> Report:
        """Return the report; whatever the client has not sent yet is missing."""
        left = [it.name for it in self._events[self._position :] if it.direction == "c2s"]
        return replace(self.report, missing=[*self.report.missing, *left])

    def _listen(self, event: Event) -> None:
        live = self._expect(event.message)
        if live is None:
            if not self._wire.closed:
                self.report.missing.append(event.name)
            return
        self.report.matched += 1
        if "id" in event.message and "method" in event.message:
            self._request_ids[json.dumps(event.message["id"])] = live.get("id")
        self._folder.learn(event.message, live)
        if (terminal := _terminal(event.message)) is not None:
            self._terminals[terminal] = _terminal(live) or terminal
        self._compare(self._folder.apply(event.message), live)
        self._origin = (time.monotonic(), event.time)

    def _expect(self, recorded: Message) -> Message | None:
        """Wait for the live counterpart; answer other messages, or hold them for their place."""
        for index, held in enumerate(self._held):
            if _matches(recorded, held):
                return self._held.pop(index)
        later = self._events[self._position :]
        upcoming = {it.name for it in later if it.direction == "c2s"}
        deadline = time.monotonic() + self._options.patience
        while message := self._wire.receive(max(0.0, deadline - time.monotonic())):
            if _matches(recorded, message):
                return message
            if message.get("method") is None or message["method"] in upcoming:
                self._held.append(message)
            else:
                self._answer_unexpected(message)
        return None

    def _compare(self, recorded: Message, live: Message) -> None:
        name = live.get("method") or self._asked.get(json.dumps(live.get("id")), "response")
        part = "params" if "method" in live else "result"
        old, new = recorded.get(part) or {}, live.get(part) or {}
        for key in COMPARED.get(name, ()):
            if key in old and old[key] != new.get(key):
                found = {"key": key, "recorded": old[key], "live": new.get(key)}
                self.report.different.append({"method": name, **found})

    def _speak(self, event: Event) -> None:
        started, first = self._origin
        due = started + (event.time - first) * self._options.speed
        if self._options.speed and (left := due - time.monotonic()) > 0:
            time.sleep(left)
        message: Message = self._folder.apply(event.message)
        key = json.dumps(event.message.get("id"))
        if "method" in message:
            self._asked[key] = message["method"]
            terminal = _params(message).get("terminalId")
            if terminal in self._terminals:
                message["params"]["terminalId"] = self._terminals[terminal]
        elif key in self._request_ids:
            message["id"] = self._request_ids[key]
        else:
            return  # answers a request that this client did not send
        self._wire.send(message)
        self._sent += 1
        if self._sent == self._options.die:
            os._exit(7)

    def _answer_unexpected(self, message: Message) -> None:
        method = message.get("method")
        if method is None:
            return
        self.report.unexpected.append(method)
        if "id" in message:
            good: Message = {"result": {}}
            bad: Message = {"error": {"code": METHOD_NOT_FOUND, "message": f"no method {method}"}}
            answer = good if method in POLITE else bad
            self._wire.send({"jsonrpc": "2.0", "id": message["id"], **answer})


def read_lives(path: Path) -> list[list[Event]]:
    """Read the lives in a recording, each a list of messages: "s2c" is the agent's direction."""
    with path.open(encoding="utf-8") as file:  # `splitlines` would split at U+2028 in a string
        lines = [json.loads(line) for line in file]
    return [[*_events(life)] for life in _split(lines)]


def _split(lines: list[Message]) -> Iterator[list[Message]]:
    life: list[Message] = []
    for line in lines:
        if line["dir"] == "note" and "argv" in line["msg"] and life:
            yield life
            life = []
        life.append(line)
    yield life


def _events(life: list[Message]) -> Iterator[Event]:
    for line in life:
        if line["dir"] == "c2a" and isinstance(line["msg"], dict):
            yield Event(line["t"], "c2s", line["msg"])
        elif line["dir"] == "a2c" and isinstance(line["msg"], dict):
            yield Event(line["t"], "s2c", line["msg"])


def _params(message: Message) -> dict[str, Value]:
    found = message.get("params")
    return found if isinstance(found, dict) else {}


def _terminal(message: Message) -> str | None:
    """Return the terminal that an answer of a client has made."""
    result = message.get("result")
    return result.get("terminalId") if isinstance(result, dict) else None


def _matches(recorded: Message, live: Message) -> bool:
    if "method" in recorded:
        return bool(recorded["method"] == live.get("method"))
    return "method" not in live and recorded.get("id") == live.get("id")


def main() -> None:
    """Run as `python -m tests.support.replay_acp RECORDING [options]`."""
    parser = argparse.ArgumentParser(description="Play a recorded ACP session back over stdio.")
    parser.add_argument("recording", type=Path)
    parser.add_argument("--life", type=int, default=1, help="which process of the recording")
    parser.add_argument("--speed", type=float, default=0.0, help="1 keeps pauses, 0 makes none")
    parser.add_argument("--report", type=Path)
    parser.add_argument("--patience", type=float, default=20.0, help="seconds a message may take")
    parser.add_argument("--die", type=int, default=0, help="exit with 7 after so many messages")
    parser.add_argument("--stay", action="store_true", help="ignore the end of input, as some do")
    options = parser.parse_args()
    events = read_lives(options.recording)[options.life - 1]
    player = Player(events, LineWire(), options)

    def save() -> None:
        if options.report:
            player.final_report().save(options.report)

    def leave(number: int, _frame: object) -> NoReturn:
        save()
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGHUP, leave)
    try:
        player.play()
        while options.stay:
            signal.pause()
    except BrokenPipeError:
        player.report.missing.append("client closed its end")
    finally:
        save()
    sys.exit(0)


if __name__ == "__main__":
    main()
