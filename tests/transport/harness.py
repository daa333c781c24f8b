"""Real child processes for these tests, and a handler that tests can wait on."""

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from tests.support.processes import MARKER

from eca_nvim.transport import Connection, Incoming, Tape, open_connection

ROOT = str(Path(__file__).parents[2])
DEADLINE_S = 60.0
"""Seconds until a test fails: far longer than anything takes, for a busy machine."""


@dataclass
class Inbox:
    """A handler that keeps all messages."""

    batches: list[list[Incoming]] = field(default_factory=list)
    _came: anyio.Event = field(default_factory=anyio.Event)

    def __call__(self, batch: list[Incoming]) -> None:
        self.batches.append(batch)
        self._came.set()
        self._came = anyio.Event()

    @property
    def methods(self) -> list[str]:
        """The methods so far, in order."""
        return [message.method for batch in self.batches for message in batch]

    async def wait_for(self, method: str) -> Incoming:
        """Wait for the first message with this method, and return it."""
        with anyio.fail_after(DEADLINE_S):
            while True:
                for message in (it for batch in self.batches for it in batch):
                    if message.method == method:
                        return message
                await self._came.wait()


@dataclass(frozen=True)
class Children:
    """Starts children, marked as those of one test."""

    marker: str

    @property
    def env(self) -> Mapping[str, str]:
        """An environment with the mark."""
        return {**os.environ, MARKER: self.marker}

    def open(
        self,
        handler: Callable[[list[Incoming]], None],
        script: str,
        *arguments: str,
        on_stderr: Callable[[str], None] | None = None,
        tape: Tape | None = None,
    ) -> AbstractAsyncContextManager[Connection]:
        """Connect to one of the scripts in `children`."""
        command = [sys.executable, "-m", f"tests.transport.children.{script}", *arguments]
        return open_connection(
            command, handler, env=self.env, cwd=ROOT, on_stderr=on_stderr, tape=tape
        )
