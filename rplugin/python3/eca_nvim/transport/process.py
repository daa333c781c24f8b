"""A child process, from its start to the last member of its session.

Rules this file keeps:

- The process leads a session of its own. Signals go to the whole session, and what the process
  leaves running in it is ended too.
- It is closed by a ladder: close its standard input, 150 ms, SIGTERM, 150 ms, SIGKILL. To ask it
  politely first is for the layer that knows its protocol.
- Its exit is a value. It is told after everything the process wrote has been taken in.
- It is always reaped, by us: until then its id stays its own. No child watcher, no SIGCHLD
  handler and no policy of the event loop is touched.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from io import FileIO
from typing import NamedTuple, cast

import anyio
from anyio.abc import TaskGroup

from eca_nvim.guardian import GRACE_S, end, signal_session
from eca_nvim.transport.pipes import ReadPipe, WritePipe
from eca_nvim.transport.stderr_tail import StderrTail


class Exit(NamedTuple):
    """How a process ended: by itself with a code, or by a signal; and its last words."""

    code: int | None
    signal: int | None
    stderr_tail: tuple[str, ...]

    def __str__(self) -> str:
        if self.signal is None:
            return f"exit code {self.code}"
        return f"signal {self.signal} ({signal.strsignal(self.signal)})"


class ChildProcess:
    """A process that was spawned with three pipes as the leader of its own session."""

    def __init__(self, popen: subprocess.Popen[bytes], on_stderr: Callable[[str], None]) -> None:
        self._popen = popen
        self.stdin = WritePipe(cast(FileIO, popen.stdin))
        self.stdout = ReadPipe(cast(FileIO, popen.stdout))
        self._stderr = ReadPipe(cast(FileIO, popen.stderr))
        self._tail = StderrTail(on_stderr)
        self._exited = anyio.Event()
        self._exit: Exit | None = None
        self._session_ended = False
        self._ladder = anyio.Lock()

    @property
    def pid(self) -> int:
        """The id of the process, and of its session."""
        return self._popen.pid

    def run_in(self, tasks: TaskGroup, on_stdout: Callable[[bytes], None]) -> None:
        """Start the tasks that move its bytes and wait for its exit.

        The group of tasks ends only after the process; it must be left by way of `close`.
        """
        tasks.start_soon(self._watch)
        tasks.start_soon(self.stdin.run)
        tasks.start_soon(self.stdout.run, on_stdout)
        tasks.start_soon(self._stderr.run, self._tail.feed)

    async def wait(self) -> Exit:
        """Wait for the exit of the process."""
        await self._exited.wait()
        assert self._exit is not None
        return self._exit

    async def close(self) -> Exit:
        """Walk down the ladder until the process has exited; at most 0.3 s and a moment."""
        async with self._ladder:
            self.stdin.finish()
            for signum in (signal.SIGTERM, signal.SIGKILL):
                with anyio.move_on_after(GRACE_S):
                    return await self.wait()
                signal_session(self.pid, signum)
            return await self.wait()

    def kill_now(self) -> None:
        """Walk down the ladder without an event loop, as the interpreter exits.

        Blocks for at most 0.8 s; returns at once when the process and its session are gone.
        """
        if self._session_ended:
            return
        self.stdin.close_now()
        for signum in (signal.SIGTERM, signal.SIGKILL):
            if self._exits_in_time():
                break
            signal_session(self.pid, signum)
        else:
            self._exits_in_time()
        end([self.pid])
        self._session_ended = True

    async def _watch(self) -> None:
        with anyio.CancelScope(shield=True):
            await _wait_for_exit(self._popen)
            self._popen.wait()
            await self._end_pipes()
            self._tail.finish()
            self._exit = _exit_of(self._popen.returncode, self._tail.lines)
            self._exited.set()
            await self._end_session()

    async def _end_pipes(self) -> None:
        self.stdin.abandon()
        self.stdout.finish()
        self._stderr.finish()
        for pipe in (self.stdin, self.stdout, self._stderr):
            await pipe.ended.wait()

    async def _end_session(self) -> None:
        """End what the process has left running in its session."""
        if signal_session(self.pid, signal.SIGTERM):
            await anyio.sleep(GRACE_S)
            signal_session(self.pid, signal.SIGKILL)
        self._session_ended = True

    def _exits_in_time(self) -> bool:
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(GRACE_S)
        return self._popen.returncode is not None


async def _wait_for_exit(popen: subprocess.Popen[bytes]) -> None:
    descriptor = _process_descriptor(popen.pid)
    if descriptor is None:
        await anyio.to_thread.run_sync(popen.wait)
        return
    try:
        await anyio.wait_readable(descriptor)
    finally:
        os.close(descriptor)


def _process_descriptor(pid: int) -> int | None:
    """Return a descriptor that is readable once the process has exited, where there is such."""
    if sys.platform == "linux":
        with suppress(OSError):  # a kernel before 5.3, or a sandbox that forbids it
            return os.pidfd_open(pid)
    return None


def _exit_of(returncode: int, stderr_tail: tuple[str, ...]) -> Exit:
    if returncode < 0:
        return Exit(None, -returncode, stderr_tail)
    return Exit(returncode, None, stderr_tail)
