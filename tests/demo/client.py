"""A client of the demo agent, which runs as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from eca_nvim.jsonrpc import Notification, Peer, Request, Response

DEADLINE_S = 60
DEMO = ("-m", "eca_nvim.demo")
WITHOUT_PAUSES = (
    "-c",
    """\
import asyncio, sys
from eca_nvim.demo import __main__ as demo, engine
engine.CHUNK_PAUSE_S = engine.WORK_S = 0
sys.exit(asyncio.run(demo.serve()))
""",
)
"""The demo agent without its pauses."""
Message = Notification | Request | Response


class Client:
    """A client of the demo agent that reads one message after the other."""

    def __init__(self, folder: Path, program: tuple[str, ...] = DEMO, **variables: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(folder), **variables},
        )
        self._peer = Peer()
        self._messages = self._read()

    def request(self, method: str, **params: object) -> None:
        self._write(self._peer.send_request(method, params)[1])

    def notify(self, method: str, **params: object) -> None:
        self._write(self._peer.send_notification(method, params))

    def answer(self, request: Request, result: object) -> None:
        self._write(self._peer.respond(request.id, result))

    def prompt(self, text: str, **more: object) -> None:
        self.request("chat/prompt", chatId="c", message=text, **more)

    def until(self, wanted: Callable[[Message], bool]) -> list[Message]:
        """Read up to and including the message that is wanted."""
        seen: list[Message] = []
        for message in self._messages:
            seen.append(message)
            if wanted(message):
                return seen
        raise AssertionError(f"the demo agent left before that: {seen[-3:]}")

    def _write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def _read(self) -> Iterator[Message]:
        assert self.process.stdout is not None
        while data := os.read(self.process.stdout.fileno(), 65536):
            for event in self._peer.receive_bytes(data):
                assert isinstance(event, Message)
                yield event


def method_of(message: Message) -> str:
    return "" if isinstance(message, Response) else message.method


def params_of(message: Message) -> dict[str, object]:
    params = {} if isinstance(message, Response) else message.params
    assert isinstance(params, dict)
    return params


def content_of(message: Message) -> dict[str, object]:
    content = params_of(message).get("content", {})
    assert isinstance(content, dict)
    return content


def within(content: object, *names: str) -> object:
    for name in names:
        assert isinstance(content, dict)
        content = content[name]
    return content


def is_content(kind: str) -> Callable[[Message], bool]:
    return lambda message: content_of(message).get("type") == kind


is_progress = is_content("progress")


def is_finished(message: Message) -> bool:
    return content_of(message).get("state") == "finished"


def assistant_text(messages: list[Message]) -> str:
    return "".join(
        str(content_of(message)["text"])
        for message in messages
        if content_of(message).get("type") == "text" and params_of(message)["role"] == "assistant"
    )


def calls_ended(messages: list[Message]) -> list[dict[str, object]]:
    return [content_of(message) for message in messages if is_content("toolCalled")(message)]


def statuses(messages: list[Message]) -> list[object]:
    return [params_of(m)["status"] for m in messages if method_of(m) == "chat/statusChanged"]
