"""The wire for the tests' own servers: JSON on stdin and stdout, framed as the protocol says.

It does not use the plugin's framing, so that a mistake there is not repeated here. There are no
threads: input is read only in `receive`.
"""

import json
import os
import select
import time
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]

SEPARATOR = b"\r\n\r\n"
EMPTY_RESULTS: dict[str, Any] = {
    "chat/list": {"chats": []},
    "chat/queryCommands": {"commands": []},
    "chat/queryContext": {"contexts": []},
    "chat/queryFiles": {"files": []},
    "jobs/list": {"jobs": []},
    "providers/list": {"providers": []},
    "shutdown": None,
}
"""Default answers by method; any other request gets METHOD_NOT_FOUND."""
METHOD_NOT_FOUND = -32601


def encode(body: str) -> bytes:
    """Frame one JSON text."""
    data = body.encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(data), data)


class Wire:
    """The server's end, with Content-Length frames. `closed` is True when the client has closed."""

    def __init__(self, reader: int = 0, writer: int = 1) -> None:
        self._reader, self._writer = reader, writer
        self._buffer = bytearray()
        self.results = dict(EMPTY_RESULTS)
        """Default answers: a server that has told of jobs lists them."""
        self.closed = False

    def send(self, message: Message) -> None:
        """Send one message. Raises BrokenPipeError if nobody reads."""
        self.write(self.frame(json.dumps(message, ensure_ascii=False)))

    def frame(self, body: str) -> bytes:
        """Frame one JSON text."""
        return encode(body)

    def write(self, data: bytes) -> None:
        """Send bytes as they are; wait while the client does not read."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._writer, view) :]

    def answer_by_default(self, request: Message) -> None:
        """Answer a request for which the test has no answer."""
        answer: Message = {"jsonrpc": "2.0", "id": request["id"]}
        method = request["method"]
        if method in self.results:
            answer["result"] = self.results[method]
        else:
            text, data = "Method not in this recording", {"method": method}
            answer["error"] = {"code": METHOD_NOT_FOUND, "message": text, "data": data}
        self.send(answer)

    def receive(self, timeout: float | None = None) -> Message | None:
        """Return the next message; None after `timeout` seconds, or if the client has closed."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (message := self._next()) is None and not self.closed:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            readable, _, _ = select.select([self._reader], [], [], left)
            if not readable:
                return None
            data = os.read(self._reader, 1 << 16)
            self._buffer += data
            self.closed = not data
        return message

    def _next(self) -> Message | None:
        """Take one whole frame off the buffer. Raises KeyError without a Content-Length."""
        head, separator, _ = self._buffer.partition(SEPARATOR)
        if not separator:
            return None
        fields = dict(line.split(b":", 1) for line in bytes(head).split(b"\r\n"))
        start = len(head) + len(SEPARATOR)
        end = start + int(fields[b"Content-Length"])
        if len(self._buffer) < end:
            return None
        message: Message = json.loads(self._buffer[start:end])
        del self._buffer[:end]
        return message


class LineWire(Wire):
    """The agent's end, with one message a line (ACP)."""

    def frame(self, body: str) -> bytes:
        """Frame one JSON text, which must not contain a line feed."""
        return body.encode() + b"\n"

    def _next(self) -> Message | None:
        line, separator, rest = self._buffer.partition(b"\n")
        if not separator:
            return None
        message: Message = json.loads(line)
        self._buffer = rest
        return message
