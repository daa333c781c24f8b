"""The fake server, `python -I -S server.py PLAN`: streams the turns of a plan.

Rules kept here:
- It starts fast and imports almost nothing, as its start is part of what is measured.
- All bytes of a turn are made before the first is written. If the rate is 0 they are one write, so
  only the reader can be slow.
- Messages have the order of the real server.
- PLAN is JSON: a list of turns {messages: [[role, text or content] …], rate}, one for each
  prompt or chat/open. The time of each turn's first byte, CLOCK_MONOTONIC in ns, is a line of the
  file PLAN + ".times".
"""

import json
import os
import sys
import time

CHAT = "00000000-0000-4000-8000-000000000000"
"""Placeholder for the chat's id, of the same length, so that Content-Length stays right."""
MODEL = "bench/model"
CONFIG = {
    "chat": {
        "models": [MODEL],
        "selectModel": MODEL,
        "agents": ["code"],
        "selectAgent": "code",
    }
}


def frame(message: dict[str, object]) -> bytes:
    """Encode a message with its header."""
    body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def notification(method: str, **params: object) -> bytes:
    """Encode a notification about the chat."""
    return frame({"method": method, "params": {"chatId": CHAT, **params}})


def content(role: str, value: object) -> bytes:
    """Encode one chat/contentReceived."""
    told = {"type": "text", "text": value} if isinstance(value, str) else value
    return notification("chat/contentReceived", role=role, content=told)


class Turn:
    """The bytes of one turn, made in advance."""

    def __init__(self, messages: list[list[object]], rate: float) -> None:
        self._rate = rate
        texts = [content(str(role), value) for role, value in messages]
        self._parts = texts if rate else [b"".join(texts)]

    def answer(self, request: int, words: str) -> tuple[bytes, bytes]:
        """Encode the messages before and after the texts that answer a prompt."""
        answer = {"chatId": CHAT, "model": MODEL, "status": "prompting"}
        opening = (
            notification("chat/opened"),
            content("user", words + "\n"),
            notification("chat/statusChanged", status="running"),
            content("system", {"type": "progress", "state": "running", "text": "Generating"}),
            frame({"id": request, "result": answer}),
        )
        end = (
            notification("chat/statusChanged", status="idle"),
            content("system", {"type": "progress", "state": "finished"}),
            content("system", {"type": "usage", "sessionTokens": 1234}),
        )
        return b"".join(opening), b"".join(end)

    def replay(self, request: int) -> tuple[bytes, bytes]:
        """Encode the messages before and after the texts of a resumed chat."""
        opening = notification("chat/cleared", messages=True) + notification("chat/opened")
        return opening, frame({"id": request, "result": {"found": True, "chatId": CHAT}})

    def play(self, chat: str, opening: bytes, end: bytes, times: str) -> None:
        """Write all bytes, and note the time of the first."""
        name, own = CHAT.encode(), chat.encode().ljust(len(CHAT))
        parts = [part.replace(name, own) for part in (opening, *self._parts, end)]
        started = time.monotonic_ns()
        write(parts[0])
        for number, part in enumerate(parts[1:-1]):
            if self._rate:
                due = started / 1e9 + number / self._rate
                time.sleep(max(0.0, due - time.monotonic()))
            write(part)
        write(parts[-1])
        with os.fdopen(os.open(times, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "w") as file:
            file.write(f"{started}\n")


def write(data: bytes) -> None:
    """Write all bytes; wait while nobody reads."""
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def receive(buffer: bytearray) -> dict[str, object] | None:
    """Read one message; None at the end of the input."""
    while (end := buffer.find(b"\r\n\r\n")) < 0 or len(buffer) < (whole := end + 4 + size(buffer)):
        data = os.read(0, 1 << 16)
        if not data:
            return None
        buffer += data
    message: dict[str, object] = json.loads(buffer[end + 4 : whole])
    del buffer[:whole]
    return message


def size(buffer: bytearray) -> int:
    """Return how long the first message's body is."""
    return int(bytes(buffer.partition(b"\r\n")[0]).partition(b":")[2])


def main(plan: str) -> None:
    """Serve one client until it leaves."""
    turns: list[Turn] = []
    buffer = bytearray()
    while (message := receive(buffer)) is not None:
        match message:
            case {"method": "initialize", "id": int(request)}:
                write(frame({"id": request, "result": {"chatWelcomeMessage": "Hello."}}))
                with os.fdopen(os.open(plan, os.O_RDONLY), encoding="utf-8") as file:
                    turns = [Turn(**turn) for turn in json.load(file)]
            case {"method": "initialized"}:
                write(frame({"method": "config/updated", "params": CONFIG}))
            case {
                "method": "chat/prompt",
                "id": int(request),
                "params": {"chatId": str(chat), "message": str(words)},
            }:
                turn = turns.pop(0)
                turn.play(chat, *turn.answer(request, words), plan + ".times")
            case {"method": "chat/open", "id": int(request), "params": {"chatId": str(chat)}}:
                turn = turns.pop(0)
                turn.play(chat, *turn.replay(request), plan + ".times")
            case {"method": "exit"}:
                return
            case {"method": str(), "id": request}:
                write(frame({"id": request, "result": None}))


if __name__ == "__main__":
    main(sys.argv[1])
