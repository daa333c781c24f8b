"""A client for tests of the tests' servers."""

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from tests.support.wire import Message, Wire

Value: TypeAlias = Any

DEADLINE = 60.0


class Peer:
    """Talks to one server process. Every wait ends after a minute."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self.heard: list[Message] = []
        self._wire = Wire(process.stdout.fileno(), process.stdin.fileno())
        self._last_id = 0

    def send(self, message: Message) -> None:
        """Send one message as it is."""
        self._wire.send({"jsonrpc": "2.0", **message})

    def notify(self, method: str, params: Value = None) -> None:
        """Send a notification."""
        self.send({"method": method, "params": params or {}})

    def ask(self, method: str, params: Value = None) -> Message:
        """Send a request and return its answer; `heard` gets what comes before it."""
        self._last_id += 1
        number = f"live-{self._last_id}"
        self.send({"id": number, "method": method, "params": params or {}})
        return self.hear_until(lambda it: "method" not in it and it["id"] == number)

    def hear(self) -> Message:
        """Return the next message."""
        message = self._wire.receive(DEADLINE)
        assert message is not None, f"the server says no more after {self.heard[-3:]}"
        self.heard.append(message)
        return message

    def hear_until(self, wanted: Callable[[Message], bool]) -> Message:
        """Return the first message that is wanted."""
        while not wanted(message := self.hear()):
            pass
        return message

    def hear_method(self, method: str) -> Message:
        """Return the next message of a method."""
        return self.hear_until(lambda message: message.get("method") == method)

    def close_input(self) -> None:
        """End the server's stdin."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def exit_status(self) -> int:
        """Wait for the end of the server."""
        return self.process.wait(DEADLINE)


@contextmanager
def connect(command: Sequence[str]) -> Iterator[Peer]:
    """Start a server and kill it in the end when it has not left by itself."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            yield Peer(process)
        finally:
            process.kill()
