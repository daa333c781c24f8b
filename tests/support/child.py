"""The Neovim process: its start, its pipes and its end."""

import subprocess
import time
from collections.abc import Callable
from contextlib import suppress

from tests.support.launch import Launch
from tests.support.processes import descendants, end, marked, wait_gone
from tests.support.rpc import Channel, ChannelClosed
from tests.support.screen import Value

BEAT = 0.05


class Child:
    """A running `nvim --embed` and the channel to it."""

    def __init__(self, launch: Launch, notified: Callable[[str, list[Value]], None]) -> None:
        launch.prepare()
        self._marker = launch.marker
        self._stderr = launch.home / "stderr.txt"
        with self._stderr.open("ab") as stderr:
            self._process = subprocess.Popen(
                launch.command(),
                cwd=launch.cwd,
                env=launch.variables(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._pipes = (self._process.stdin, self._process.stdout)
        reader, writer = self._process.stdout.fileno(), self._process.stdin.fileno()
        self.channel = Channel(reader, writer, notified)

    @property
    def pid(self) -> int:
        """Process id of Neovim."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """Exit status, negative for a signal; None while it runs."""
        return self._process.poll()

    def descendants(self) -> set[int]:
        """Return the live processes that descend from Neovim."""
        return descendants(self.pid)

    def family(self) -> set[int]:
        """Return Neovim and all processes of this test, whatever their parents are now."""
        return marked(self._marker)

    def signal(self, number: int) -> None:
        """Send a signal to Neovim only."""
        self._process.send_signal(number)

    def stderr(self) -> str:
        """Return what Neovim wrote to its standard error."""
        return self._stderr.read_text(errors="replace")

    def wait(self, timeout: float) -> int:
        """Wait for the end and return the exit status. Raises TimeoutError."""
        deadline = time.monotonic() + timeout
        with suppress(ChannelClosed):
            while self.status is None and (left := deadline - time.monotonic()) > 0:
                self.channel.pump(min(left, BEAT))
        try:
            return self._process.wait(max(BEAT, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"Neovim still runs after {timeout} s") from None

    def close(self) -> None:
        """Close the pipes; kill Neovim if it still runs."""
        if self.status is None:
            self._process.kill()
            self._process.wait()
        for pipe in self._pipes:
            with suppress(BrokenPipeError):
                pipe.close()

    def orphans(self, patience: float) -> set[int]:
        """Return the processes of this test that are still alive after `patience` seconds."""
        deadline = time.monotonic() + patience
        while found := self.family() - {self.pid}:  # they may have started others meanwhile
            if left := wait_gone(found, deadline - time.monotonic()):
                return left
        return set()

    def end_orphans(self) -> None:
        """Kill the processes that `orphans` finds."""
        end(self.family() - {self.pid})
