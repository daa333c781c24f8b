"""A fake server that performs a script (`script.py`) over stdio, as an ECA server or ACP agent.

It writes every message of the client to the journal, one JSON per line, before it handles it. After
the script it gives default answers until the client disconnects. It imports little: more than a
thousand of it start in a run of all tests.
"""

import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import Any, TextIO, TypeAlias

from tests.support.wire import LineWire, Message, Wire

Value: TypeAlias = Any

BATCH = 256
"""Chunks in one write if a stream has no rate."""
HOLE = "\0"
"""Placeholder for a chunk's text in the frame, which is made only once."""
IGNORED_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)

STUBBORN_FAMILY = f"""
import os, signal
for number in {tuple(map(int, IGNORED_SIGNALS))}:
    signal.signal(number, signal.SIG_IGN)
if child := os.fork():
    os.setpgid(child, child)
    os.write(1, b"ready\\n")
while True:
    signal.pause()
"""


class Performer:
    """Performs steps in order; messages that come before they are expected wait in `_held`."""

    def __init__(self, steps: list[Message], wire: Wire, journal: TextIO) -> None:
        self._steps, self._wire, self._journal = steps, wire, journal
        self._upcoming: set[str] = set()
        self._held: list[Message] = []
        self._requests: dict[str, Value] = {}
        self._words: dict[str, str] = {}
        self._chats = 0
        self._stubborn = False

    def perform(self) -> None:
        """Perform the script, then give default answers. Raises SystemExit if the client exits."""
        for index, step in enumerate(self._steps):
            self._upcoming = _awaited(self._steps[index:])
            self._perform(step)
        self._upcoming = set()
        while True:
            self._hear(None)

    def _perform(self, step: Message) -> None:
        match step:
            case {"do": "expect", "method": method}:
                self._expect(lambda message: message.get("method") == method)
            case {"do": "reply", "method": method, "answer": answer}:
                self._send({"id": self._requests[method], **answer})
            case {"do": "send", "method": method, "params": params}:
                self._send({"method": method, "params": params})
            case {"do": "answer", "id": number, "result": result}:
                self._send({"id": number, "result": result})
            case {"do": "request", "method": method, "params": params, "id": number}:
                self._send({"method": method, "params": params, "id": number})
            case {"do": "ask", "method": method, "params": params, "id": number}:
                self._send({"method": method, "params": params, "id": number})
                self._expect(lambda message: _answers(message, number))
            case {"do": "stream"}:
                self._stream(step)
            case {"do": "write", "path": path, "text": text}:
                _write(path, text)
            case {"do": "pause", "ms": milliseconds}:
                self._listen(milliseconds / 1000)
            case _:
                self._misbehave(step)

    def _misbehave(self, step: Message) -> None:
        match step:
            case {"do": "raw", "base64": data}:
                self._wire.write(_bytes(data))
            case {"do": "stderr", "text": words}:
                sys.stderr.write(words)
                sys.stderr.flush()
            case {"do": "gate", "path": path}:
                _read(path)
            case {"do": "leave", "code": code}:
                sys.exit(code)
            case {"do": "stubborn"}:
                self._stubborn = True
                for number in IGNORED_SIGNALS:
                    signal.signal(number, signal.SIG_IGN)
            case {"do": "offspring", "name": name}:
                _start_offspring(name)
            case _:
                raise ValueError(f"no such step: {step}")

    def _stream(self, step: Message) -> None:
        chunks, rate, sent = self._chunks(step["pieces"], step["chats"]), step["rate"], 0
        started = time.monotonic()
        while (left := step["count"] - sent) > 0 and not self._holds(step["until"]):
            due = int((time.monotonic() - started) * rate) + 1 - sent if rate else BATCH
            self._wire.write(b"".join(islice(chunks, min(due, left))))
            sent += due
            self._listen(started + sent / rate - time.monotonic() if rate else 0)

    def _chunks(self, pieces: list[str], chats: list[str]) -> Iterator[bytes]:
        """Make endless frames of text contents."""
        content, frames = {"type": "text", "text": HOLE}, list[list[str]]()
        for chat in chats:
            params = {"chatId": chat, "role": "assistant", "content": content}
            frame = self._encode({"method": "chat/contentReceived", "params": params})
            frames.append(frame.split(json.dumps(HOLE)))
        for number, piece in enumerate(cycle(pieces)):
            text = json.dumps(piece.replace("$n", str(number)))
            yield from (self._wire.frame(head + text + tail) for head, tail in frames)

    def _expect(self, wanted: Callable[[Message], bool]) -> None:
        """Wait for a message, and learn the values of placeholders from it."""
        while (message := next(filter(wanted, self._held), None)) is None:
            self._hear(None)
        self._held.remove(message)
        if "method" in message and "id" in message:
            self._requests[message["method"]] = message["id"]
        params = message.get("params")
        match params:
            case {"workspaceFolders": [{"uri": str(uri)}, *_]}:
                self._words["$workspace"] = uri.removeprefix("file://")
            case {"chatId": str(chat)}:
                if chat not in self._words.values():
                    self._chats += 1
                    self._words[f"$chat{self._chats}"] = chat
                self._words["$chat"] = chat
        if isinstance(params, dict) and message.get("method") == "rewrite/prompt":
            number = sum(word.startswith("$rewrite") for word in self._words) + 1
            self._words[f"$rewrite{number}"] = params["id"]
        if isinstance(params, dict) and message.get("method") == "chat/prompt":
            self._words["$prompt"] = params["message"]

    def _holds(self, method: str | None) -> bool:
        return any(message.get("method") == method for message in self._held)

    def _listen(self, seconds: float) -> None:
        """Handle messages for a while."""
        deadline = time.monotonic() + seconds
        while self._hear(max(0.0, deadline - time.monotonic())):
            pass

    def _hear(self, timeout: float | None) -> bool:
        """Handle one message; return whether there was one."""
        message = self._wire.receive(timeout)
        if message is not None:
            self._journal.write(json.dumps(message) + "\n")
            self._journal.flush()
            self._sort(message)
        elif self._wire.closed:
            self._leave()
        return message is not None

    def _sort(self, message: Message) -> None:
        """Obey, hold or answer a message."""
        match message:
            case {"method": "exit"}:
                self._leave()
            case {"method": "shutdown"} if self._stubborn:
                pass
            case {"method": method} if method not in self._upcoming:
                if "id" in message:
                    self._wire.answer_by_default(message)
            case _:
                self._held.append(message)

    def _leave(self) -> None:
        if not self._stubborn:
            sys.exit(0)
        while self._wire.closed:
            signal.pause()

    def _send(self, message: Message) -> None:
        if message.get("method") == "jobs/updated":
            self._wire.results["jobs/list"] = message["params"]
        self._wire.write(self._wire.frame(self._encode(message)))

    def _encode(self, message: Message) -> str:
        text = json.dumps({"jsonrpc": "2.0", **message})
        for name in sorted(
            self._words, key=len, reverse=True
        ):  # do not replace `$chat` in `$chat1`
            text = text.replace(name, json.dumps(self._words[name])[1:-1])
        return text


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - `pathlib` takes longer than we do
        return file.read()


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123 - see above
        file.write(text)


def _bytes(data: str) -> bytes:
    from base64 import b64decode

    return b64decode(data)


def _start_offspring(name: str) -> None:
    import subprocess

    command = [sys.executable, "-I", "-S", "-c", STUBBORN_FAMILY, name]
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()


def _answers(message: Message, number: int) -> bool:
    return "method" not in message and message.get("id") == number


def _awaited(steps: list[Message]) -> set[str]:
    """Return the methods that these steps wait for."""
    expected = {step["method"] for step in steps if step["do"] == "expect"}
    return expected | {step["until"] for step in steps if step["do"] == "stream"}


def main() -> None:
    """Run as `python -m tests.support.scripted_server SCRIPT.json JOURNAL [--lines] …`.

    `--lines`: one message a line, as in ACP. What else the client passes to its server is ignored.
    """
    script, path, *words = sys.argv[1:]
    steps = json.loads(_read(script))
    with open(path, "a", encoding="utf-8") as journal:  # noqa: PTH123 - see above
        Performer(steps, LineWire() if "--lines" in words else Wire(), journal).perform()


if __name__ == "__main__":
    main()
