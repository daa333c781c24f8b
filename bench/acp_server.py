"""The fake agent, `python -I -S acp_server.py PLAN`: streams the turns of a plan by ACP.

The rules, the plan and the file of times are those of `server.py`. Each text is one session/update,
and the answer to the prompt ends the turn. It plays no replays.
"""

import json
import os
import sys
import time
from collections.abc import Iterator

SESSION = "bench"
READ_BYTES = 1 << 16


def line(message: dict[str, object]) -> bytes:
    """Encode a message."""
    return json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode() + b"\n"


def chunk(text: str) -> bytes:
    """Encode a piece of the answer."""
    content = {"type": "text", "text": text}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    return line({"method": "session/update", "params": {"sessionId": SESSION, "update": update}})


class Turn:
    """The bytes of one turn, made in advance."""

    def __init__(self, messages: list[list[str]], rate: float) -> None:
        self._rate = rate
        texts = [chunk(text) for _, text in messages]
        self._parts = texts if rate else [b"".join(texts)]

    def play(self, request: int, times: str) -> None:
        """Write all bytes, and note the time of the first."""
        started = time.monotonic_ns()
        for number, part in enumerate(self._parts):
            if self._rate:
                time.sleep(max(0.0, started / 1e9 + number / self._rate - time.monotonic()))
            write(part)
        write(line({"id": request, "result": {"stopReason": "end_turn"}}))
        with os.fdopen(os.open(times, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "w") as file:
            file.write(f"{started}\n")


def write(data: bytes) -> None:
    """Write all bytes; wait while nobody reads."""
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def messages() -> Iterator[dict[str, object]]:
    """Yield what the client sends, until it leaves."""
    rest = b""
    while data := os.read(0, READ_BYTES):
        *lines, rest = (rest + data).split(b"\n")
        yield from (json.loads(it) for it in lines)


def main(plan: str) -> None:
    """Serve one client until it leaves."""
    turns: list[Turn] = []
    for message in messages():
        match message:
            case {"method": "initialize", "id": request}:
                write(line({"id": request, "result": {"protocolVersion": 1}}))
                with os.fdopen(os.open(plan, os.O_RDONLY), encoding="utf-8") as file:
                    turns = [Turn(**turn) for turn in json.load(file)]
            case {"method": "session/new", "id": request}:
                write(line({"id": request, "result": {"sessionId": SESSION}}))
            case {"method": "session/prompt", "id": int(request)}:
                turns.pop(0).play(request, plan + ".times")
            case {"method": str(), "id": request}:
                write(line({"id": request, "result": {}}))


if __name__ == "__main__":
    main(sys.argv[1])
