"""The fake agent of the flood, `python -I -S flood_agent.py LINE`: runs a shell line once allowed.

The client runs it in a terminal, which the call embeds.
"""

import json
import os
import sys
from collections.abc import Iterator

SESSION = "bench"
CALL = "flood"
READ_BYTES = 1 << 16


def send(**message: object) -> None:
    """Write a message."""
    os.write(1, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def ask(number: int, method: str, **params: object) -> None:
    """Send a request."""
    send(id=number, method=method, params={"sessionId": SESSION, **params})


def update(**members: object) -> None:
    """Say something about the call."""
    told = {"sessionUpdate": "tool_call_update", "toolCallId": CALL, **members}
    send(method="session/update", params={"sessionId": SESSION, "update": told})


def messages() -> Iterator[dict[str, object]]:
    """Yield what the client sends, until it leaves."""
    rest = b""
    while data := os.read(0, READ_BYTES):
        *lines, rest = (rest + data).split(b"\n")
        yield from (json.loads(it) for it in lines)


def main(line: str) -> None:
    """Serve one client until it leaves."""
    prompt: object = None
    for message in messages():
        match message:
            case {"method": "initialize", "id": request}:
                send(id=request, result={"protocolVersion": 1})
            case {"method": "session/new", "id": request}:
                send(id=request, result={"sessionId": SESSION})
            case {"method": "session/prompt", "id": request}:
                prompt = request
                call = {"toolCallId": CALL, "kind": "execute", "rawInput": {"command": line}}
                yes = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
                ask(1, "session/request_permission", toolCall=call, options=[yes])
            case {"id": 1, "result": _}:
                ask(2, "terminal/create", command="/bin/sh", args=["-c", line])
            case {"id": 2, "result": {"terminalId": terminal}}:
                shown = [{"type": "terminal", "terminalId": terminal}]
                update(status="in_progress", content=shown)
                ask(3, "terminal/wait_for_exit", terminalId=terminal)
            case {"id": 3, "result": _}:
                update(status="completed")
                send(id=prompt, result={"stopReason": "end_turn"})
            case {"method": str(), "id": request}:
                send(id=request, result={})


if __name__ == "__main__":
    main(sys.argv[1])
