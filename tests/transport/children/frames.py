"""Shared by the servers of these tests: reads and writes frames, as simply as possible."""

import json
import sys
from typing import Any


def receive() -> dict[str, Any] | None:
    """Read one message; None at the end."""
    length = 0
    for line in iter(sys.stdin.buffer.readline, b""):
        if line == b"\r\n":
            message: dict[str, Any] = json.loads(sys.stdin.buffer.read(length))
            return message
        length = int(line.partition(b":")[2])
    return None


def frame(message: dict[str, Any]) -> bytes:
    """Return the bytes of one message."""
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def send(message: dict[str, Any]) -> None:
    """Write one message."""
    sys.stdout.buffer.write(frame(message))
    sys.stdout.buffer.flush()
