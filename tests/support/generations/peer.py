"""What the servers of all generations share: the loop, refusals and complaints.

A handler may wait for a message, while others are handled as usual. On shutdown a server ends its
own servers: that takes a second (`slow-end`), or until the editor is gone (`late-end`); then it
writes "(ended)" to its journal. With `bad-end` it answers the shutdown with an error.

With `rows=FILE`, a table of steps by name, a prompt that begins with a name plays its steps:

    {"do": "tell", "method": …, "params": …}    a notification; "charset": named in its frame
    {"do": "ask", "method": …, "params": …}     a request; waits for the answer
    {"do": "await", "method": …}                waits for that; "(error)" is any error
    {"do": "answer", "result": …}               answers the prompt; or "error": …

In texts, `$chat`, `$message`, `$model` and `$folder` stand for those of the prompt.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TextIO, TypeAlias

from tests.support.wire import METHOD_NOT_FOUND, Message, Wire, encode

Value: TypeAlias = Any
Handler: TypeAlias = Callable[[Value], Value]

MISUSE: Final = "(misused)"
"""Marks in the journal a message that breaks the protocol."""
MISUSED: Final = 3
"""The exit code after a client broke the protocol of the server's generation."""


class Misused(Exception):
    """Raised if a client breaks the protocol of this server's generation."""


def need(table: Value, **fields: type | tuple[type, ...]) -> None:
    """Check that an object has all required fields. Raises Misused."""
    if not isinstance(table, dict):
        raise Misused(f"{table!r} is no object")
    for name, kinds in fields.items():
        if name not in table:
            raise Misused(f"{name} is missing in {json.dumps(table)}")
        allow(table, **{name: kinds})


def allow(table: Mapping[str, Value], **fields: type | tuple[type, ...]) -> None:
    """Check the types of optional fields. Raises Misused."""
    for name, kinds in fields.items():
        if name in table and not isinstance(table[name], kinds):
            raise Misused(f"{name} is {table[name]!r}")


class Server:
    """A server: handlers of requests and notifications by method, and its loop."""

    content_type = False
    """Whether frames have a Content-Type header, as the base protocol allows."""
    model = ""
    """The model that answers a prompt without one."""

    def __init__(self, journal: TextIO, words: Sequence[str] = ()) -> None:
        self._wire, self._journal = Wire(), journal
        self.words = words
        self.rows: Mapping[str, list[Message]] = {}
        for path in (word.removeprefix("rows=") for word in words if word.startswith("rows=")):
            self.rows = json.loads(Path(path).read_text(encoding="utf-8"))
        self.folder = ""
        self.editor: Value = None
        self._heard: list[str] = []
        self._asked = 0
        self.requests: dict[str, Handler] = {"shutdown": self._shutdown}
        self.notifications: dict[str, Handler] = {"exit": self._exit}

    def serve(self) -> None:
        """Serve until the client disconnects. Raises SystemExit and Misused."""
        while True:
            self.hear()

    def hear(self) -> Message:
        """Handle one message and return it."""
        message = self._wire.receive()
        if message is None:
            sys.exit(0)
        if message.get("jsonrpc") != "2.0":
            raise Misused(f"{message!r} is not of JSON-RPC 2.0")
        method = message.get("method")
        is_known = method is None or method in self.requests | self.notifications
        self._write({**message, "known": is_known})
        if method is not None:
            self._heard.append(method)
            self._handle(message, method)
        elif "error" in message:
            self._heard.append("(error)")
        return message

    def _handle(self, message: Message, method: str) -> None:
        params = message.get("params")
        if "id" not in message:
            if handler := self.notifications.get(method):
                handler(params)
        elif method in self.requests:
            self.answering = message["id"]
            self.requests[method](params)
        else:
            fault = {"code": METHOD_NOT_FOUND, "message": f"Method not found: {method}"}
            self.send({"id": message["id"], "error": fault})

    def _write(self, line: Message) -> None:
        self._journal.write(json.dumps(line) + "\n")
        self._journal.flush()

    def wait(self, condition: Callable[[], object]) -> None:
        """Handle messages until a condition is true."""
        while not condition():
            self.hear()

    def notify(self, method: str, params: Value) -> None:
        """Send a notification."""
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: Value) -> Value:
        """Send a request and return the whole answer."""
        self._asked += 1
        number = f"server-{self._asked}"
        self.send({"id": number, "method": method, "params": params})
        while (message := self.hear()).get("id") != number or "method" in message:
            pass
        return message

    def play(self, chat: str, prompt: Value, request: Value, steps: Sequence[Message]) -> None:
        """Play the steps of a row instead of an answer to the prompt."""
        words = {
            "$chat": chat,
            "$message": prompt["message"],
            "$model": prompt.get("model", self.model),
            "$folder": self.folder,
        }
        for step in steps:
            text = json.dumps(step)
            for word, meant in words.items():
                text = text.replace(word, json.dumps(meant)[1:-1])
            self._do(json.loads(text), request)

    def _do(self, step: Message, request: Value) -> None:
        match step:
            case {"do": "tell", "charset": charset, "method": method, "params": params}:
                self._tell_in(charset, {"jsonrpc": "2.0", "method": method, "params": params})
            case {"do": "tell", "method": method, "params": params}:
                self.notify(method, params)
            case {"do": "ask", "method": method, "params": params}:
                self.ask(method, params)
            case {"do": "await", "method": method}:
                count = self._heard.count(method)
                self.wait(lambda: self._heard.count(method) > count)
            case {"do": "answer", **answer}:
                self.send({"id": request, **answer})
            case _:
                raise ValueError(f"no such step: {step}")

    def _tell_in(self, charset: str, message: Message) -> None:
        """Send a message in a frame that names its charset, with headers in an unusual order."""
        body = json.dumps(message, ensure_ascii=False).encode(charset)
        kind = f"Content-Type: application/vscode-jsonrpc; charset={charset}".encode()
        self._wire.write(b"%b\r\nContent-Length: %d\r\n\r\n%b" % (kind, len(body), body))

    def answer(self, request: Value, result: Value) -> None:
        """Answer a request."""
        self.send({"id": request, "result": result})

    def send(self, message: Message) -> None:
        """Send one message."""
        frame = encode(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False))
        if self.content_type:
            kind = b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n"
            frame = frame.replace(b"\r\n\r\n", b"\r\n" + kind, 1)
        self._wire.write(frame)

    def _shutdown(self, params: Value) -> None:
        if params:
            raise Misused(f"shutdown has no params, but {params!r}")
        self._end_servers()
        self._write({"method": "(ended)", "known": True})
        if "bad-end" in self.words:
            self.send({"id": self.answering, "error": {"code": -32603, "message": "it broke"}})
        else:
            self.answer(self.answering, None)

    def _end_servers(self) -> None:
        if "slow-end" in self.words:
            time.sleep(1)
        while "late-end" in self.words and Path(f"/proc/{self.editor}").exists():
            time.sleep(0.01)

    def _exit(self, _params: Value) -> None:
        sys.exit(0 if "shutdown" in self._heard else MISUSED)

    def require_initialized(self) -> None:
        """Check that the client has sent `initialized`. Raises Misused."""
        if "initialized" not in self._heard:
            raise Misused("initialized was not said")


def run(make: Callable[[TextIO, list[str]], Server]) -> None:
    """Run a server as `python -m tests.support.generations.NAME --journal FILE [WORD …]`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--journal", type=Path, required=True)
    options, words = parser.parse_known_args()
    with options.journal.open("a", encoding="utf-8") as journal:
        try:
            make(journal, words).serve()
        except Misused as fault:
            journal.write(json.dumps({"method": MISUSE, "fault": str(fault), "known": True}) + "\n")
            sys.stderr.write(f"misused: {fault}\n")
            sys.exit(MISUSED)
