"""What the servers of these tests share: frames in and out, as plainly as can be."""

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


def send(message: dict[str, Any]) -> None:
    """Write one message."""
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    sys.stdout.buffer.flush()
